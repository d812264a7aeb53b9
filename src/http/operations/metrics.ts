import { SluiceError } from '../../core/problem.js';
import type { HttpDeps } from '../deps.js';
import { type Operation, operation } from '../operation.js';

/** Metrics for Prometheus, of this server and of the fleet. */
export function metricsOperation(deps: HttpDeps): Operation {
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
        contentType: 'text/plain; version=0.0.4',
      },
    },
    problems: ['UNAVAILABLE'],
    async run() {
      const { metrics } = deps.engine;
      if (metrics === undefined) throw new SluiceError('UNAVAILABLE', 'This server counts nothing.');
      const { text } = await metrics.page();
      return { status: 200, body: text };
    },
  });
}
