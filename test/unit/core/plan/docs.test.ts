import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PHASES } from '../../../../src/core/plan/model.js';
import { PLAN_ROWS, planDiagram } from '../../../../src/core/plan/table.js';

const BEGIN = '<!-- lifecycle: generated from src/core/plan/table.ts -->';
const END = '<!-- /lifecycle -->';

const code = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(', ');

function phases(from: readonly (string | null)[]): string {
  if (PHASES.every((phase) => from.includes(phase))) return 'any';
  return from.map((phase) => (phase === null ? 'none yet' : `\`${phase}\``)).join(', ');
}

function tableOfRows(): string {
  const lines = PLAN_ROWS.map(({ id, from, input, when, to, events }) => {
    const told = events.filter((name) => name !== 'plan.phase.changed');
    const command = input.startsWith('any') ? input : code(input.split(', '));
    const next = to === null ? 'refused' : code([to]);
    return `| \`${id}\` | ${phases(from)} | ${command} | ${when} | ${next} | ${code(told)} |`;
  });
  return ['| row | phase | input | when | next | event |', '|---|---|---|---|---|---|', ...lines].join('\n');
}

const section = [BEGIN, '```mermaid', planDiagram(), '```', '', tableOfRows(), END].join('\n');

describe('docs/plans.md', () => {
  it('shows the lifecycle as the code has it', () => {
    const page = readFileSync('docs/plans.md', 'utf8');
    const shown = page.slice(page.indexOf(BEGIN), page.indexOf(END) + END.length);
    expect(shown).toBe(section);
  });
});
