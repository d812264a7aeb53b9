import { z } from 'zod';
import { durationSchema } from '../../src/core/duration-schema.js';
import { secretSchema, tlsSchema } from '../../src/core/secret.js';

const MIB = 2 ** 20;
/** A delivery answers within a minute; some of it is for what stands around a request. */
export const LONGEST_TIMEOUT_MS = 50_000;

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Printable, or a tab: anything else could end the header and begin another. */
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Set by the sink itself, or by HTTP. */
const OWN_HEADER =
  /^(?:webhook-.*|ce-.*|host|content-.*|transfer-encoding|connection|keep-alive|proxy-connection|upgrade|expect|te|trailer|user-agent|accept-encoding)$/;
const SECRET_HEADER = /^(?:authorization|proxy-authorization|cookie)$/;

function nameProblem(name: string): string | undefined {
  if (!HEADER_NAME.test(name)) return 'expected the name of a header';
  return OWN_HEADER.test(name.toLowerCase()) ? 'this header is set by the sink itself' : undefined;
}

/** Headers by their names; a bad name is told with its path, which a schema of keys does not. */
const headersOf = <Value extends z.ZodType>(value: Value, problem: (name: string) => string | undefined) =>
  z.record(z.string(), value).superRefine((headers, context) => {
    for (const name of Object.keys(headers)) {
      const message = problem(name);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
    }
  });

const schema = z.strictObject({
  mode: z
    .enum(['structured', 'binary', 'batched'])
    .default('structured')
    .describe(
      'CloudEvents over HTTP: one event as JSON, its data with the attributes in headers, or a list of events',
    ),
  secrets: z
    .array(secretSchema)
    .min(1)
    .max(2)
    .optional()
    .describe('One or two whsec_ secrets of Standard Webhooks; each of them signs, so that they can rotate'),
  unsigned: z.boolean().default(false).describe('Send without a signature'),
  headers: headersOf(
    z.string().regex(HEADER_VALUE, 'expected text without control characters'),
    (name) =>
      nameProblem(name) ?? (SECRET_HEADER.test(name.toLowerCase()) ? 'belongs in headers_secret' : undefined),
  )
    .default({})
    .describe('Headers of each request'),
  headers_secret: headersOf(secretSchema, nameProblem)
    .default({})
    .describe('Headers whose whole values are secrets, such as Authorization'),
  timeout: durationSchema
    .refine((ms) => ms >= 100 && ms <= LONGEST_TIMEOUT_MS, 'expected 100ms to 50s')
    .default(15_000)
    .describe('Longest request, with the whole answer'),
  allow_private: z
    .boolean()
    .default(false)
    .describe('Whether the host may have addresses of this machine and of private networks'),
  allow_http: z.boolean().default(false).describe('Whether http:// will do: anybody on the way can read it'),
  max_bytes: z
    .int()
    .min(1024)
    .max(64 * MIB)
    .default(MIB)
    .describe('Largest body in bytes; a larger event is a dead letter'),
  batch: z.int().min(1).max(200).default(100).describe('Events of one request in mode batched'),
  tls: tlsSchema.optional().describe('Certificates; that of the host is always verified'),
});

export type WebhookOptions = z.output<typeof schema>;

/** Options whose values are looked at together: what stands beside them may be wrong as well. */
type Loose = Partial<Record<keyof WebhookOptions, unknown>>;
const always = { when: () => true };
const namesIn = (value: unknown) =>
  typeof value === 'object' && value !== null ? Object.keys(value).map((name) => name.toLowerCase()) : [];

export const webhookOptions = schema
  .refine((options: Loose) => options.secrets !== undefined || options.unsigned === true, {
    ...always,
    path: ['secrets'],
    message: 'lacks the secrets that sign; give one or two, or unsigned: true',
  })
  .refine((options: Loose) => options.secrets === undefined || options.unsigned !== true, {
    ...always,
    path: ['unsigned'],
    message: 'secrets sign, so that it is not unsigned; leave one of the two out',
  })
  .refine(
    (options: Loose) => {
      const names = [...namesIn(options.headers), ...namesIn(options.headers_secret)];
      return new Set(names).size === names.length;
    },
    { ...always, path: ['headers'], message: 'one header is given twice' },
  )
  .refine(
    ({ tls }: Loose) => {
      const given = (tls ?? {}) as { cert?: unknown; key?: unknown };
      return (given.cert === undefined) === (given.key === undefined);
    },
    { ...always, path: ['tls'], message: 'cert and key go together' },
  );
