import { z } from 'zod';
import { asyncApi } from '../../core/documents/asyncapi.js';
import { type Operation, operation } from '../operation.js';

/** Descriptions of what goes over buses and webhooks. */
export function documentOperations(): Operation[] {
  let document: string | undefined;
  return [
    operation({
      id: 'getAsyncApi',
      method: 'GET',
      path: '/asyncapi.json',
      tag: 'service',
      summary: 'Every event and command, as an AsyncAPI document',
      role: null,
      responses: {
        200: { description: 'AsyncAPI 3.0', schema: z.looseObject({ asyncapi: z.string() }) },
      },
      async run() {
        document ??= JSON.stringify(asyncApi());
        return { status: 200, body: document };
      },
    }),
  ];
}
