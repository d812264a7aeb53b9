import { z } from 'zod';
import { sinkSettingSchema, sourceSettingSchema } from '../src/core/endpoints.js';
import { count, duration, LONGEST_KEPT, place } from './fields.js';

/** Settings of what leaves and what comes in. */
export const busSettings = {
  sinks: z
    .array(sinkSettingSchema)
    .default([])
    .describe('Where events leave, each as KIND=TARGET or an object'),
  delivery: z
    .strictObject({
      tries: count(20).describe('Tries of an event that its sink refuses before it is a dead letter'),
      longest_wait: duration('30m').describe('Longest pause between two tries, and of a sink that is away'),
      give_up_after: duration('24h', LONGEST_KEPT).describe(
        'How long events wait for a sink that is away before they are dead letters',
      ),
    })
    .prefault({}),
  sources: z
    .array(sourceSettingSchema)
    .default([])
    .describe('Where commands arrive besides HTTP, each as KIND=TARGET or an object'),
  intake: z
    .strictObject({
      max_message: count(2 ** 20).describe('Largest message of a source, in bytes'),
    })
    .prefault({}),
  references: z
    .strictObject({
      folders: z
        .array(place)
        .default([])
        .describe('Folders from which commands may name files (file:// URLs); none: no files'),
      hosts: z
        .array(z.string().min(1))
        .default([])
        .describe(
          'Hosts from which commands may name https URLs: evidence.example.com, *.example.com, example.com:8443',
        ),
      allow_private: z
        .boolean()
        .default(false)
        .describe('Whether these hosts may have addresses of private networks'),
      max_bytes: count(50 * 2 ** 20).describe('Largest file or answer, in bytes'),
      timeout: duration('30s').describe('Longest fetch'),
    })
    .prefault({}),
  http: z
    .strictObject({
      listen: z
        .string()
        .regex(/^(?:\[[0-9a-fA-F:.]+\]|[^:[\]\s]+):\d{1,5}$/, 'expected HOST:PORT')
        .optional()
        .describe('HOST:PORT of the HTTP API; `sluice up` serves it where this is set'),
      cert: place.optional().describe('File with the certificate, PEM: HTTPS instead of HTTP'),
      key: place.optional().describe('File with its key, PEM'),
      trust_proxy: z
        .union([z.boolean(), z.int().min(1).max(16)], {
          error: 'expected true, false, or how many proxies: 1 to 16',
        })
        .default(false)
        .describe(
          'Whether X-Forwarded-For names the client: behind a proxy of your own alone (true), or as many as stand there; what clients write into it themselves does not count',
        ),
      cors: z.array(z.url()).default([]).describe('Origins whose pages may call the API; none: no CORS'),
      rate: count(600).describe('Requests a minute of one token, or of one address without one'),
      body_limit: count(10 * 2 ** 20).describe('Largest body of a request other than an upload, in bytes'),
      upload_limit: count(64 * 2 ** 30).describe('Largest upload of runs, in bytes'),
      uploads: count(16).describe('Uploads at a time'),
      streams: count(100).describe('Event streams at a time'),
      drain: duration('20s').describe('How long requests in hand may finish when told to stop'),
    })
    .prefault({}),
};
