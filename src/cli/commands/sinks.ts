import { endpointName, shownEndpoint } from '../../../queues/endpoints.js';
import { DEAD_AFTER_MS } from '../../../workers/lifecycle.js';
import { forgetSink } from '../../app/forget-sink.js';
import { sinkDocument } from '../../app/letter-documents.js';
import { enableSink, listSinks, type SinkReport } from '../../app/sinks.js';
import type { SinkSetting } from '../../core/endpoints.js';
import { SluiceError } from '../../core/problem.js';
import { withFleet } from '../asker.js';
import { type FleetOptions, ProblemList } from '../options.js';
import { plain, print, printJson, say } from '../output.js';
import { tableOf } from '../table.js';

const CHANGED = 'nothing was changed.';

const timeOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

function sinksTable(sinks: readonly SinkReport[]): string {
  const rows = sinks.map((sink) => [
    sink.name,
    `${sink.kind}=${sink.target}`,
    sink.state,
    timeOf(sink.since),
    String(sink.waiting),
    String(sink.deadLetters),
    sink.state === 'away' && sink.nextTry !== null
      ? `next try ${timeOf(sink.nextTry)}: ${sink.reason ?? ''}`
      : (sink.reason ?? ''),
  ]);
  return tableOf(['NAME', 'TARGET', 'STATE', 'SINCE', 'WAITING', 'DEAD LETTERS', 'REASON'], rows);
}

/** Sinks of the settings that no dispatcher has opened so far. */
const unopened = (settings: readonly SinkSetting[], known: readonly SinkReport[]): SinkSetting[] =>
  settings.filter((setting) => !known.some(({ name }) => name === endpointName(setting)));

/** `sluice sinks list`; answers 0. */
export async function printSinks(options: FleetOptions): Promise<number> {
  const problems = new ProblemList();
  const { sinks, missing, isServed } = await withFleet(
    options,
    'read',
    problems,
    'nothing was read.',
    async ({ engine }) => {
      const found = await listSinks(engine.store);
      const alive = await engine.store.roster.alive(engine.clock.now() - DEAD_AFTER_MS);
      const isServed = alive.some(({ role }) => role === 'dispatcher');
      return { sinks: found, missing: unopened(engine.config.sinks, found), isServed };
    },
  );
  if (!isServed && sinks.length > 0)
    say('sluice: no dispatcher is alive: nothing is delivered, and states are as the last one left them');
  for (const setting of missing)
    say(`sluice: no dispatcher has opened ${plain(shownEndpoint(setting))} of the settings yet`);
  if (options.json) await printJson({ sinks: sinks.map(sinkDocument) });
  else if (sinks.length === 0) say('sluice: no dispatcher has opened a sink');
  else await print(sinksTable(sinks));
  return 0;
}

/** `sluice sinks enable NAME`; answers 0. Throws NOT_FOUND. */
export async function enable(name: string, options: FleetOptions): Promise<number> {
  const { sink, wasDisabled } = await withFleet(
    options,
    'read',
    new ProblemList(),
    CHANGED,
    async ({ engine }) => {
      const before = await engine.store.sinks.get(name);
      return {
        sink: await enableSink(engine.store, engine.clock, name),
        wasDisabled: before?.state === 'disabled',
      };
    },
  );
  if (!wasDisabled) say(`sluice: ${name} is not disabled: it is ${sink.state}`);
  if (options.json) await printJson(sinkDocument(sink));
  else if (wasDisabled) say(`sluice: ${name} is enabled; its dispatcher goes on within seconds`);
  return 0;
}

/** `sluice sinks forget NAME`; answers 0. Throws NOT_FOUND, or IN_USE. */
export async function forget(name: string, options: FleetOptions & { discard?: boolean }): Promise<number> {
  const { waiting } = await withFleet(options, 'read', new ProblemList(), CHANGED, async ({ engine }) => {
    if (engine.config.sinks.some((setting) => endpointName(setting) === name))
      throw new SluiceError('IN_USE', `The sink ${name} stands in the settings; take it out there first.`);
    const forgotten = await forgetSink(engine.store, name, { discard: options.discard === true });
    const { forgetDelivery } = await import('../../../queues/delivery/forget.js');
    await forgetDelivery({ url: engine.redisUrl, fleet: engine.config.fleet }, name, engine.trouble);
    return forgotten;
  });
  if (options.json) await printJson({ forgotten: name, had_waiting: waiting > 0 });
  else say(`sluice: ${name} is forgotten${waiting > 0 ? ', with the events that waited for it' : ''}`);
  return 0;
}
