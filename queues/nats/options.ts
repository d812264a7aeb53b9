import { z } from 'zod';
import { secretSchema } from '../../src/core/secret.js';
import { loginOptions } from '../buses/login.js';

/** Names of streams and consumers: what servers take, and files and logs too. */
export const natsName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,200}$/, 'expected letters, digits, _ and -; 200 at most');

/** What sinks and sources of NATS have in common: how they connect. */
export const connectionOptions = {
  ...loginOptions,
  token: secretSchema.optional(),
  nkey: secretSchema.optional().describe('Seed of the user’s nkey (SU…)'),
  creds: secretSchema.optional().describe('Content of a .creds file: JWT and seed'),
};

const connectionSchema = z.strictObject(connectionOptions);
export type ConnectionOptions = z.output<typeof connectionSchema>;

/** One way to log in, and whole; a certificate with its key. */
export function loginProblems(
  { user, password, token, nkey, creds, tls }: Omit<ConnectionOptions, 'timeout'>,
  report: (path: string, message: string) => void,
): void {
  if (user !== undefined && password === undefined) report('password', 'is missing: user goes with password');
  if (user === undefined && password !== undefined) report('user', 'is missing: password goes with user');
  if (tls !== undefined && (tls.cert === undefined) !== (tls.key === undefined))
    report('tls', 'has one of cert and key; both are needed');
  const ways = Object.entries({ user, token, nkey, creds }).filter(([, value]) => value !== undefined);
  for (const [name] of ways.slice(1))
    report(name, `cannot be used with ${ways[0]?.[0]}: log in by one of them`);
}
