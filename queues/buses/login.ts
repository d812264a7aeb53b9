import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { durationSchema } from '../../src/core/duration-schema.js';
import { SluiceError } from '../../src/core/problem.js';
import { type SecretReader, secretSchema, type Tls, tlsSchema } from '../../src/core/secret.js';

const LONGEST_TIMEOUT_MS = 15_000;

/** How a connection is made, as options of sinks and sources. */
export const loginOptions = {
  user: z
    .union([z.string().min(1), secretSchema], { error: 'expected a name, {env: NAME} or {file: PATH}' })
    .optional()
    .describe('User name; goes with password'),
  password: secretSchema.optional(),
  tls: tlsSchema.optional(),
  timeout: durationSchema
    .pipe(z.int().min(100, 'expected 100ms at least').max(LONGEST_TIMEOUT_MS, 'expected 15s at most'))
    .prefault('10s')
    .describe('How long the broker may take to answer'),
};

const loginSchema = z.strictObject(loginOptions);
export type LoginOptions = z.output<typeof loginSchema>;

/** User and password as they stand now; neither: none are set. */
export interface Login {
  user?: string;
  password?: string;
}

/** What is wrong with them together; a sentence. */
export function loginProblem({ user, password, tls }: LoginOptions, isTls: boolean): string | undefined {
  if (user !== undefined && password === undefined) return 'lacks the option password: user goes with it';
  if (user === undefined && password !== undefined) return 'lacks the option user: password goes with it';
  if (tls !== undefined && !isTls) return 'has the option tls, but its address is one without TLS';
  if ((tls?.cert === undefined) !== (tls?.key === undefined))
    return 'has one of tls.cert and tls.key; both are needed';
  return undefined;
}

/** Reads user and password at each connection, so that they can be rotated. */
export async function readLogin(
  { user, password }: Pick<LoginOptions, 'user' | 'password'>,
  secret: SecretReader,
): Promise<Login> {
  return {
    ...(user === undefined ? {} : { user: typeof user === 'string' ? user : await secret(user) }),
    ...(password === undefined ? {} : { password: await secret(password) }),
  };
}

/** Reads the files of a TLS connection. Throws SECRET_MISSING, naming the file. */
export async function readTls(tls: Tls | undefined): Promise<{ ca?: Buffer; cert?: Buffer; key?: Buffer }> {
  const files = Object.entries(tls ?? {}).flatMap(([name, path]) =>
    path === undefined ? [] : [{ name, path }],
  );
  return Object.fromEntries(
    await Promise.all(files.map(async ({ name, path }) => [name, await readPem(path)])),
  );
}

const readPem = (path: string) =>
  readFile(path).catch((error: Error) => {
    throw new SluiceError('SECRET_MISSING', `A file of the TLS settings cannot be read: ${error.message}`);
  });

/** A text of the other side without user and password, which it may repeat. */
export function withoutLogin(text: string, { user, password }: Login): string {
  const hidden = [password, user].filter((part) => part !== undefined && part !== '') as string[];
  return hidden.reduce((rest, part) => rest.replaceAll(part, '***'), text);
}
