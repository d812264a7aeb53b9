import { z } from 'zod';
import { durationSchema } from '../../src/core/endpoints.js';
import { secretSchema, tlsSchema } from '../../src/core/secret.js';

const LONGEST_TIMEOUT_MS = 15_000;

/** Names of streams and consumers: what servers take, and files and logs too. */
export const natsName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,200}$/, 'expected letters, digits, _ and -; 200 at most');

/** What sinks and sources of NATS have in common: how they connect. */
export const connectionOptions = {
  user: z.string().min(1).optional().describe('User name; goes with password'),
  password: secretSchema.optional(),
  token: secretSchema.optional(),
  nkey: secretSchema.optional().describe('Seed of the user’s nkey (SU…)'),
  creds: secretSchema.optional().describe('Content of a .creds file: JWT and seed'),
  tls: tlsSchema.optional(),
  timeout: durationSchema
    .pipe(z.int().min(100, 'expected 100ms at least').max(LONGEST_TIMEOUT_MS, 'expected 15s at most'))
    .prefault('5s')
    .describe('How long an answer of the server may take'),
};

const connectionSchema = z.strictObject(connectionOptions);
export type ConnectionOptions = z.output<typeof connectionSchema>;

/** One way to log in, and whole. */
export function loginProblems(
  { user, password, token, nkey, creds }: Omit<ConnectionOptions, 'timeout'>,
  report: (path: string, message: string) => void,
): void {
  if (user !== undefined && password === undefined) report('password', 'is missing: user goes with password');
  if (user === undefined && password !== undefined) report('user', 'is missing: password goes with user');
  const ways = Object.entries({ user, token, nkey, creds }).filter(([, value]) => value !== undefined);
  for (const [name] of ways.slice(1))
    report(name, `cannot be used with ${ways[0]?.[0]}: log in by one of them`);
}
