import { openPageWriter, type PageWriter } from '../../metrics/page.js';
import type { HttpDeps } from '../deps.js';
import { type Operation, operation } from '../operation.js';

/** Metrics for Prometheus, of this server and of the fleet. */
export function metricsOperation(deps: HttpDeps): Operation {
  let writer: Promise<PageWriter> | undefined;
  return operation({
    id: 'getMetrics',
    method: 'GET',
    path: '/metrics',
    tag: 'service',
    summary: 'Metrics of this server and of the fleet, for Prometheus',
    description: 'With `metrics.public: true` it needs no token.',
    role: 'read',
    responses: {
      200: {
        description: 'Metrics in the text format of Prometheus, version 0.0.4',
        contentType: 'text/plain',
      },
    },
    async run() {
      const { metrics } = deps.engine;
      if (metrics !== undefined) return { status: 200, body: (await metrics.page()).text };
      // Of a server that counts nothing there is what Node.js tells of it.
      writer ??= openPageWriter();
      return { status: 200, body: (await (await writer).write([])).text };
    },
  });
}
