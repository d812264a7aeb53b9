import { randomUUID } from 'node:crypto';

/** A key for a request that came without one: it is the same as no other. */
export const freshKey = (): string => randomUUID();
