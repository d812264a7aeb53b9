import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isValidation, type Kind, type Registry } from '../../../../src/core/registry/model.js';
import { planRegistration, planRemoval } from '../../../../src/core/registry/register.js';
import { apply, CODE, EMPTY, given, TRANSFORM } from './build.js';

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const callableName = fc.oneof(name, fc.constantFrom('builtin/task_count', 'local/a', 'zz'));
const capability = fc.record({ read_only: fc.boolean(), writes: fc.boolean() }, { requiredKeys: [] });

const tool = fc.record(
  {
    kind: fc.constant('tool'),
    name,
    code: fc.constant(CODE),
    capability,
    timeout: fc.constantFrom('1s', '2s', 'soon'),
    description: fc.constantFrom('x', 'y'),
  },
  { requiredKeys: ['kind', 'name', 'code'] },
);
const wrapping = fc.record(
  {
    kind: fc.constant('validation'),
    name,
    wraps: callableName,
    transform: fc.constant(TRANSFORM),
    mode: fc.constantFrom('required', 'informational'),
    timeout: fc.constantFrom('500ms', '1s'),
  },
  { requiredKeys: ['kind', 'name', 'wraps', 'transform'] },
);
const validation = fc.record({ kind: fc.constant('validation'), name, code: fc.constant(CODE) });
const skill = fc.record({
  kind: fc.constant('skill'),
  name,
  tools: fc.array(callableName, { maxLength: 3 }),
});
const document = fc.oneof(tool, wrapping, validation, skill);
const documents = fc.array(document, { maxLength: 5 });
const shuffled = documents.chain((all) =>
  fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
);

function register(registry: Registry, values: readonly unknown[], now = 1) {
  return planRegistration(registry, given('tool', ...values), now, 'tester');
}

/** Every registry that can be reached, a refused registration being passed over. */
const registries = fc.array(documents, { maxLength: 4 }).map((batches) => {
  let registry = EMPTY;
  for (const batch of batches) {
    const planned = register(registry, batch);
    if (planned.ok) registry = apply(registry, planned.change);
  }
  return registry;
});

function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, each]) => [key, reordered(each)]),
  );
}

/** What no registry may ever hold (ADR, Constraints). */
function isSound({ entries }: Registry): boolean {
  const documentOf = (full: string) => entries.get(full)?.document;
  return [...entries].every(([full, { document: each }]) => {
    if (each.kind === 'skill')
      return each.tools.every((member) => member.startsWith('builtin/') || documentOf(member));
    if (each.kind === 'tool') return full === each.name;
    const { read_only, writes, checkpointable } = each.capability;
    if (!read_only || writes || checkpointable) return false;
    if (!isValidation(each) || each.wraps === undefined || each.wraps.startsWith('builtin/')) return true;
    const wrapped = documentOf(each.wraps);
    return wrapped !== undefined && wrapped.kind !== 'skill' && wrapped.capability.read_only;
  });
}

describe('registering', () => {
  it('gives the same registry, or the same refusals, in any order of the documents', () => {
    let accepted = 0;
    fc.assert(
      fc.property(registries, shuffled, (registry, [one, other]) => {
        const names = one.map((each) => each.name);
        fc.pre(new Set(names).size === names.length);
        const [first, second] = [register(registry, one), register(registry, other)];
        expect(second.ok).toBe(first.ok);
        if (first.ok && second.ok) {
          expect(second.change).toEqual(first.change);
          accepted += 1;
        } else if (!first.ok && !second.ok) {
          const told = (problems: readonly object[]) => problems.map((each) => JSON.stringify(each)).sort();
          expect(told(second.problems)).toEqual(told(first.problems));
        }
      }),
      { numRuns: 80 },
    );
    expect(accepted).toBeGreaterThan(5);
  });

  it('never leads to a registry in which something is wrapped or listed that is not there, or writes', () => {
    fc.assert(
      fc.property(registries, (registry) => {
        expect(isSound(registry)).toBe(true);
      }),
      { numRuns: 80 },
    );
  });

  it('of what stands changes nothing, however often', () => {
    fc.assert(
      fc.property(registries, documents, (registry, values) => {
        const planned = register(registry, values);
        fc.pre(planned.ok);
        const after = apply(registry, planned.change);
        const again = register(after, values, 99);
        expect(again.ok && again.change).toEqual({ put: [], remove: [], attach: [], detach: [] });
      }),
      { numRuns: 80 },
    );
  });

  it('that is refused has no change, and leaves the registry as it was', () => {
    fc.assert(
      fc.property(registries, documents, (registry, values) => {
        const before = JSON.stringify([...registry.entries]);
        const planned = register(registry, values);
        expect(JSON.stringify([...registry.entries])).toBe(before);
        if (planned.ok) return;
        expect(planned.problems.length).toBeGreaterThan(0);
        for (const problem of planned.problems) expect(problem.code).toMatch(/^[A-Z_]+$/);
      }),
      { numRuns: 80 },
    );
  });

  it('gives the same version whatever the order of keys', () => {
    fc.assert(
      fc.property(registries, documents, (registry, values) => {
        const [first, second] = [register(registry, values), register(registry, values.map(reordered))];
        expect(second.ok && second.report).toEqual(first.ok && first.report);
      }),
      { numRuns: 80 },
    );
  });
});

it('removing never leaves something wrapped or listed that is not there', () => {
  const removals = fc.array(fc.tuple(fc.constantFrom<Kind>('tool', 'validation', 'skill'), name), {
    maxLength: 5,
  });
  fc.assert(
    fc.property(registries, removals, (registry, names) => {
      let after = registry;
      for (const [kind, each] of names) {
        const planned = planRemoval(after, kind, each);
        if (planned.ok) after = apply(after, planned.change);
      }
      expect(isSound(after)).toBe(true);
    }),
    { numRuns: 80 },
  );
});
