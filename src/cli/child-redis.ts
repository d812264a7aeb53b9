/** Environment variable that carries the Redis URL: an argument would show its password to the whole machine. */
export const CHILD_REDIS = 'SLUICE_CHILD_REDIS';

/** Environment variable that says what becomes of a check that a worker process has no runner for: `error`. */
export const CHILD_UNSERVED = 'SLUICE_CHILD_UNSERVED';
