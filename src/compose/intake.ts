import { EvaluationIntake } from '../app/intake/evaluations.js';
import { Intake, type IntakeDeps } from '../app/intake/intake.js';
import type { ReferenceReader } from '../ports/references.js';
import type { Engine } from './engine.js';
import { plansOf } from './plans.js';

/** What taking requests needs of an engine. */
type IntakeParts = Pick<Engine, 'store' | 'queue' | 'clock' | 'config' | 'pressure'>;

/** Reads references by the settings; nothing is loaded before the first one comes. */
export function referencesOf({ config }: Pick<Engine, 'config'>): ReferenceReader {
  let opened: Promise<ReferenceReader> | undefined;
  const open = async () => {
    const { openReferences } = await import('../../queues/sources/references.js');
    return openReferences(config.references);
  };
  return {
    async read(reference) {
      opened ??= open();
      return (await opened).read(reference);
    },
  };
}

/** Requests to judge one run, of an engine's fleet. */
export function evaluationsOf(engine: IntakeParts, references = referencesOf(engine)): EvaluationIntake {
  const { store, queue, clock, config, pressure } = engine;
  return new EvaluationIntake({
    ...(pressure === undefined ? {} : { pressure }),
    store,
    queue,
    clock,
    references,
    settings: {
      fleet: config.fleet,
      deadlineMs: config.evaluation.deadline,
      retentionMs: config.evaluation.retention,
      checkAfterMs: config.sweeper.check_after,
      informationalErrors: config.evaluation.informational_errors,
      requireEnforced: config.evaluation.require_enforced,
    },
  });
}

/** Commands from buses and over HTTP, for an engine's fleet. */
export function intakeOf(
  engine: IntakeParts & Pick<Engine, 'log' | 'metrics' | 'tracer'>,
  references = referencesOf(engine),
  options: Pick<IntakeDeps, 'refusedTries'> = {},
): Intake {
  const { store, clock, config, log, metrics, tracer } = engine;
  return new Intake({
    store,
    clock,
    fleet: config.fleet,
    evaluations: evaluationsOf(engine, references),
    plans: plansOf(engine),
    references,
    maxBytes: config.intake.max_message,
    ...options,
    meter: metrics?.recorder,
    tracer,
    onSetAside({ endpoint, id, type, code, reason }) {
      log.warn({ source: endpoint, letter: id, type, code }, `a message was set aside: ${reason}`);
    },
    onError: (error) => log.error({ err: error }, 'a command met an unexpected error'),
  });
}
