import { EvaluationIntake } from '../app/intake/evaluations.js';
import type { ReferenceReader } from '../ports/references.js';
import type { Engine } from './engine.js';

/** What taking requests needs of an engine. */
type IntakeParts = Pick<Engine, 'store' | 'queue' | 'clock' | 'config'>;

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
  const { store, queue, clock, config } = engine;
  return new EvaluationIntake({
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
