import { randomUUID } from 'node:crypto';

/**
 * Whose keys those of a token are. `source` of a CloudEvent is a URI, which holds no `<`: whoever may post
 * events cannot use up the keys of another token.
 */
export const originOf = (token: string): string => `<${token}>`;

/** A key for a request that came without one: it is the same as no other. */
export const freshKey = (): string => randomUUID();
