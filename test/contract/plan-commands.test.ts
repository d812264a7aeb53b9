import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { TERMINAL_PHASES } from '../../src/core/plan/model.js';
import { PLAN_ROWS } from '../../src/core/plan/table.js';
import { Simulation } from '../unit/core/plan/simulation.js';

const SEQUENCES = 10_000;
const LEAST_VISITS = 50;

/** How often each row was taken, over all sequences. */
const visits = new Map<string, number>(PLAN_ROWS.map(({ id }) => [id, 0]));

function table(): string {
  const lines = [...visits].map(([id, count]) => `  ${id.padEnd(18)} ${String(count).padStart(8)}`);
  return [`visits of each row in ${SEQUENCES} random sequences of commands:`, ...lines].join('\n');
}

describe('random commands', () => {
  afterAll(() => console.log(table()));

  it('never break a rule, and every plan ends once they stop', () => {
    const sequence = fc.record({
      seed: fc.nat(),
      choices: fc.array(fc.nat(0xffff_ffff), { minLength: 8, maxLength: 32, size: 'max' }),
    });
    fc.assert(
      fc.property(sequence, ({ seed, choices }) => {
        const simulation = new Simulation(seed, (row) => visits.set(row, (visits.get(row) ?? 0) + 1));
        for (const choice of choices) {
          if (simulation.ended(choice)) break;
          simulation.command(choice);
        }
        simulation.settle();
        const { phase } = simulation.end();
        expect(phase === 'ready' || TERMINAL_PHASES.has(phase)).toBe(true);
      }),
      { numRuns: SEQUENCES },
    );
  }, 60_000);

  it('visit every row of the table often', () => {
    const rare = [...visits].filter(([, count]) => count < LEAST_VISITS);
    expect(rare).toEqual([]);
    expect([...visits.keys()]).toEqual(PLAN_ROWS.map(({ id }) => id));
  });
});
