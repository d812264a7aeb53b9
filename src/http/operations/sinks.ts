import { z } from 'zod';
import { sinkDocument } from '../../app/letter-documents.js';
import { enableSink, listSinks } from '../../app/sinks.js';
import type { HttpDeps } from '../deps.js';
import { type Operation, operation } from '../operation.js';
import { sinkSchema, sinksSchema } from '../schemas/letters.js';

const paramsSchema = z.strictObject({ sink: z.string().min(1).describe('Name of the sink') });

/** Sinks, as their dispatchers found them. */
export function sinkOperations(deps: HttpDeps): Operation[] {
  return [
    operation<unknown, unknown, unknown>({
      id: 'listSinks',
      method: 'GET',
      path: '/v1/sinks',
      tag: 'delivery',
      summary: 'Sinks, whether they deliver, and what waits for them',
      role: 'read',
      responses: { 200: { description: 'By name', schema: sinksSchema } },
      example: {},
      async run() {
        const sinks = await listSinks(deps.engine.store);
        return { status: 200, body: { sinks: sinks.map(sinkDocument) } };
      },
    }),
    operation<z.output<typeof paramsSchema>, unknown, unknown>({
      id: 'enableSink',
      method: 'POST',
      path: '/v1/sinks/{sink}/enable',
      tag: 'delivery',
      summary: 'Delivers to a sink again that was disabled',
      description:
        'A sink is disabled when its receiver says that it is gone (410). One that is not disabled stays as it is.',
      role: 'operate',
      params: paramsSchema,
      responses: { 200: { description: 'As it stands', schema: sinkSchema } },
      problems: ['NOT_FOUND'],
      example: { params: { sink: 'example' } },
      async run({ params }) {
        const { store, clock } = deps.engine;
        return { status: 200, body: sinkDocument(await enableSink(store, clock, params.sink)) };
      },
    }),
  ];
}
