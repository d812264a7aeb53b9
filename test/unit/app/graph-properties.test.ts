import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runGraph } from '../../../src/app/tools/graph.js';
import type { ToolAnswer } from '../../../src/app/tools/returns.js';
import { broken, fail, graphOf, type Nodes, pass, toolsOf, value } from './graph-build.js';

const ANSWERS = {
  pass: pass(),
  fail: fail(),
  value: value({ passed: true, message: 'fine', data: {} }),
  failure: broken(),
  error: { kind: 'verdict', verdict: { outcome: 'error', message: 'm', data: {} } },
} satisfies Record<string, ToolAnswer>;
type Kind = keyof typeof ANSWERS;

interface Case {
  nodes: Nodes;
  waits: Map<string, string[]>;
  kinds: Record<string, Kind>;
}

/** DAGs whose nodes stand in any order and wait by need, by argument or by subject. */
const dag: fc.Arbitrary<Case> = fc
  .array(
    fc.record({
      kind: fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom<Kind>('pass', 'fail', 'value') },
        { weight: 1, arbitrary: fc.constantFrom<Kind>('failure', 'error') },
      ),
      waits: fc.array(fc.record({ on: fc.nat(), by: fc.constantFrom('need', 'argument', 'subject') }), {
        maxLength: 3,
      }),
      place: fc.nat(),
    }),
    { minLength: 1, maxLength: 14 },
  )
  .map((given) => {
    const all = given.map(({ kind, waits, place }, n) => {
      const before = n === 0 ? [] : waits.map(({ on, by }) => ({ id: `n${on % n}`, by }));
      const by = (way: string) => before.filter((each) => each.by === way).map(({ id }) => id);
      const [subject] = by('subject');
      const node = {
        needs: by('need'),
        arguments: Object.fromEntries(by('argument').map((id) => [id, { from: `/nodes/${id}` }])),
        ...(subject === undefined ? {} : { subject: { from: `/nodes/${subject}` } }),
      };
      const ids = [...by('need'), ...by('argument'), ...(subject === undefined ? [] : [subject])];
      return { id: `n${n}`, kind, node, ids: [...new Set(ids)], place };
    });
    const placed = all.toSorted((a, b) => a.place - b.place);
    return {
      nodes: Object.fromEntries(placed.map(({ id, node }) => [id, node])),
      waits: new Map(all.map(({ id, ids }) => [id, ids])),
      kinds: Object.fromEntries(all.map(({ id, kind }) => [id, kind])),
    };
  });

/** Runs a graph whose nodes end in an order that the numbers choose. */
async function ran({ nodes, kinds }: Case, turns: readonly number[], isTool: boolean) {
  const document = graphOf(nodes, { isTool });
  const going: { id: string; end: () => void }[] = [];
  const started: { id: string; ended: string[] }[] = [];
  const ended: string[] = [];
  const input = { args: {}, subject: null, resource: null, slot: null };
  const call = { document, nodes: toolsOf(document), input, deadlineMs: 60_000 };
  let isOver = false;
  const result = runGraph(call, ({ chain }) => {
    const id = chain[0]?.name.replace('local/', '') as string;
    started.push({ id, ended: [...ended] });
    return new Promise((resolve) => {
      going.push({
        id,
        end() {
          ended.push(id);
          resolve({ outcome: ANSWERS[kinds[id] as Kind], readOnly: 'enforced' });
        },
      });
    });
  }).finally(() => {
    isOver = true;
  });
  for (let turn = 0; !isOver; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    const at = (turns[turn % turns.length] as number) % Math.max(1, going.length);
    going.splice(at, 1)[0]?.end();
  }
  return { outcome: (await result).outcome, started };
}

/** By the rules: what errs, and what is behind it. */
function expectedOf({ waits, kinds }: Case) {
  const errs = (id: string) => kinds[id] === 'failure' || kinds[id] === 'error';
  const skipped = new Set<string>();
  // Ids are in an order in which each stands behind what it waits for.
  for (const [id, before] of waits)
    if (before.some((each) => errs(each) || skipped.has(each))) skipped.add(id);
  const called = [...waits.keys()].filter((id) => !skipped.has(id));
  return { skipped: [...skipped].sort(), errored: called.filter(errs).sort(), called: called.sort() };
}

const order = fc.array(fc.nat(), { minLength: 1, maxLength: 20 });

describe('any graph, with any outcomes', () => {
  it('runs what it can, each node once and after all that it waits for', async () => {
    await fc.assert(
      fc.asyncProperty(dag, order, fc.boolean(), async (given, turns, isTool) => {
        const { started } = await ran(given, turns, isTool);
        expect(started.map(({ id }) => id).sort()).toEqual(expectedOf(given).called);
        for (const { id, ended } of started)
          for (const each of given.waits.get(id) ?? []) expect(ended).toContain(each);
      }),
    );
  });

  it('skips exactly what is behind an error, and never passes then', async () => {
    await fc.assert(
      fc.asyncProperty(dag, order, fc.boolean(), async (given, turns, isTool) => {
        const { outcome } = await ran(given, turns, isTool);
        const { errored, skipped } = expectedOf(given);
        if (errored.length === 0) {
          const isFailed = Object.values(given.kinds).includes('fail');
          const judges = isFailed || Object.values(given.kinds).includes('pass');
          if (isTool) expect(outcome.kind).toBe('value');
          else expect(outcome).toMatchObject({ verdict: { outcome: judges && !isFailed ? 'pass' : 'fail' } });
          return;
        }
        expect(outcome).toMatchObject({ kind: 'failure', reason: 'node' });
        const data = (outcome as unknown as { data: { errored: { node: string }[]; skipped: string[] } })
          .data;
        expect(data.errored.map(({ node }) => node).sort()).toEqual(errored);
        expect(data.skipped.toSorted()).toEqual(skipped);
      }),
    );
  });

  it('comes to the same, in whatever order its nodes end', async () => {
    await fc.assert(
      fc.asyncProperty(dag, order, order, fc.boolean(), async (given, turns, others, isTool) => {
        const one = await ran(given, turns, isTool);
        const other = await ran(given, others, isTool);
        expect(JSON.stringify(other.outcome)).toBe(JSON.stringify(one.outcome));
      }),
    );
  });
});
