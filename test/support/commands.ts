import type { IncomingMessage } from '../../src/ports/source.js';

export const STRUCTURED = 'application/cloudevents+json';
export const BATCHED = 'application/cloudevents-batch+json';

/** A command as a CloudEvent in JSON format. */
export function commandEvent(
  name: string,
  id: string,
  data: unknown,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return { specversion: '1.0', id, source: '/ci', type: `dev.sluice.${name}.v1`, ...more, data };
}

/** A message of a bus with this body. */
export function messageWith(body: unknown, contentType: string | undefined = STRUCTURED): IncomingMessage {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { body: Buffer.from(text), contentType, attributes: {}, place: 'in a test' };
}

const SCENARIO = {
  key: 'restart',
  validation: {
    tasks: [
      {
        label: 'It restarts nginx',
        validator: 'pattern_match',
        where: 'executed_commands',
        pattern: 'nginx',
      },
    ],
  },
};

/** evaluation.requested of a run that passes. */
export function requestedEvent(id: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const run = { id: `run of ${id}`, tasks: [{ commands: ['systemctl restart nginx'] }] };
  return commandEvent('evaluation.requested', id, { scenario: SCENARIO, run }, more);
}
