/** Environment variable that carries the Redis URL: an argument would show its password to the whole machine. */
export const CHILD_REDIS = 'SLUICE_CHILD_REDIS';
