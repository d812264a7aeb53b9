/** Packages that a bundle does not hold; `NAME/*` is all of a scope. */
export const PACKAGES: readonly string[];
export function bundleSource(program: string, file: string): Promise<void>;
