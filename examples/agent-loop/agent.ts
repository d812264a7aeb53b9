// An agent that may publish its price list only once the gate is open. It submits its work, reads from
// plan.retry.requested what is wrong, mends that, and hands in the fix, until plan.gate.passed.
//
//   npx tsx examples/agent-loop/agent.ts                      everything in this process
//   REDIS_URL=redis://127.0.0.1:6379 npx tsx …/agent.ts       checks run on that fleet (`sluice up`)
import { randomUUID } from 'node:crypto';
import { createFleet, type Fleet } from 'sluice';

interface Price {
  sku: string;
  cents: number;
  note?: string;
}

const RESOURCE = 'price-list/shop';
const AGENT = { actor: 'price-agent' };

/** What must hold before anything is published, and one piece of advice. */
async function registerChecks(fleet: Fleet): Promise<void> {
  await fleet.registerTool({
    name: 'duplicate-skus',
    description: 'Lists SKUs that occur more than once',
    code: `({ subject }) => {
      const seen = new Set();
      return { duplicates: subject.prices.map((p) => p.sku).filter((sku) => seen.size === seen.add(sku).size) };
    }`,
  });
  await fleet.registerValidation({
    name: 'every-sku-once',
    description: 'No SKU occurs twice',
    mode: 'required',
    wraps: 'duplicate-skus',
    transform: `(tool_output) => ({
      passed: tool_output.duplicates.length === 0,
      message: 'SKUs that occur more than once: ' + (tool_output.duplicates.join(', ') || 'none'),
      data: { fix: 'remove', skus: tool_output.duplicates },
    })`,
  });
  await fleet.registerValidation({
    name: 'prices-in-range',
    description: 'Every price lies above 0 and at most at a limit, in cents',
    mode: 'required',
    input_schema: {
      type: 'object',
      properties: { max: { type: 'integer', minimum: 1 } },
      required: ['max'],
      additionalProperties: false,
    },
    code: `({ subject, args }) => {
      const bad = subject.prices.filter((p) => p.cents <= 0 || p.cents > args.max).map((p) => p.sku);
      return {
        passed: bad.length === 0,
        message: 'prices out of range: ' + (bad.join(', ') || 'none'),
        data: { fix: 'reprice', skus: bad, max: args.max },
      };
    }`,
  });
  await fleet.registerValidation({
    name: 'has-notes',
    description: 'Every price says what it is for',
    mode: 'informational',
    code: '({ subject }) => ({ passed: subject.prices.every((p) => p.note), message: "some prices have no note" })',
  });
  await fleet.attach({ resource: RESOURCE, validation: 'every-sku-once' });
  await fleet.attach({ resource: RESOURCE, validation: 'prices-in-range', arguments: { max: 99_900 } });
  await fleet.attach({ resource: RESOURCE, validation: 'has-notes' });
}

/** One mistake is mended at a time, as agents do. */
function mended(prices: Price[], { fix, skus }: { fix?: unknown; skus?: unknown }): Price[] {
  const named = new Set(Array.isArray(skus) ? skus : []);
  if (fix === 'remove') return prices.filter((p, i) => prices.findIndex(({ sku }) => sku === p.sku) === i);
  if (fix === 'reprice') return prices.map((p) => (named.has(p.sku) ? { ...p, cents: 1_999 } : p));
  return prices;
}

// A handler that throws would leave the plan waiting: it ends the program instead.
let reject: (error: Error) => void = () => {};
const fleet = await createFleet({
  ...(process.env.REDIS_URL ? { redis: process.env.REDIS_URL } : {}),
  onError: (error) => reject(error),
});
await registerChecks(fleet);

let prices: Price[] = [
  { sku: 'lamp', cents: 4_900 },
  { sku: 'desk', cents: -1 },
  { sku: 'lamp', cents: 5_900 },
];
const snapshots = () => ({ [RESOURCE]: { prices } });
const say = (line: string) => console.log(line);

// The fleet may have other plans at the same time: each agent looks at its own.
const plan = `prices-${randomUUID()}`;
const ended = new Promise<string>((resolve, rejectEnded) => {
  reject = rejectEnded;
  fleet.on('plan.retry.requested', async ({ subject, data }) => {
    if (subject !== plan) return;
    const { diagnosis, fix, limit } = data;
    say(`fix ${fix} of ${limit}:`);
    for (const { validation, message } of [...diagnosis.failed, ...diagnosis.errored])
      say(`  ${validation}: ${message}`);
    prices = mended(prices, diagnosis.failed[0]?.data ?? {});
    await fleet.fix(plan, snapshots(), AGENT);
  });
  fleet.on('plan.gate.passed', async ({ subject }) => {
    if (subject !== plan) return;
    say('the gate is open');
    await fleet.apply(plan, { snapshots: snapshots() }, AGENT);
  });
  fleet.on(
    ['plan.applied', 'plan.failed', 'plan.revision.requested', 'plan.escalated'],
    ({ subject, name }) => {
      if (subject === plan) resolve(name);
    },
  );
});

await fleet.submitPlan({ plan, project: 'shop', snapshots: snapshots(), ...AGENT });
const outcome = await ended;
say(outcome === 'plan.applied' ? `published: ${JSON.stringify(prices)}` : `not published: ${outcome}`);
await fleet.close();
process.exitCode = outcome === 'plan.applied' ? 0 : 1;
