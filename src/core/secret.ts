import { z } from 'zod';

/** Where a secret lies: it never stands in the settings themselves. */
export const secretSchema = z
  .union(
    [
      z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/) }),
      z.strictObject({ file: z.string().min(1) }),
    ],
    { error: 'expected {env: NAME} or {file: PATH}' },
  )
  .describe(
    'Where the secret lies: a variable of the environment, or a file, whose last line end is left out',
  );
export type Secret = z.output<typeof secretSchema>;

/** Reads a secret as it stands now. Throws SECRET_MISSING, naming the variable or file, never the value. */
export type SecretReader = (secret: Secret) => Promise<string>;

/** TLS of a connection to a bus. */
export const tlsSchema = z.strictObject({
  ca: z.string().optional().describe('File with the certificates to trust, PEM; default: those of Node.js'),
  cert: z.string().optional().describe('File with the client certificate, PEM'),
  key: z.string().optional().describe('File with its key, PEM'),
});
export type Tls = z.output<typeof tlsSchema>;
