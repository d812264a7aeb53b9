export function bundleSource(program: string, file: string): Promise<void>;
