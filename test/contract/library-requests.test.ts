import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createFleet,
  defineSkill,
  defineTool,
  defineValidation,
  type Fleet,
  PlanRefusedError,
  SluiceError,
} from '../../src/index.js';

const nonEmpty = defineValidation({
  name: 'non-empty',
  description: 'There is a text',
  code: '({ subject }) => ({ passed: subject.length > 0, message: "a text is wanted" })',
});
const longEnough = defineValidation({
  name: 'long-enough',
  input_schema: {
    type: 'object',
    properties: { least: { type: 'integer' } },
    required: ['least'],
    additionalProperties: false,
  },
  code: '({ subject, args }) => ({ passed: subject.length >= args.least })',
});

let fleet: Fleet;
beforeAll(async () => {
  fleet = await createFleet();
});
afterAll(() => fleet.close());

/** A call as JavaScript makes it: no type stands in its way. */
async function refusalOf(method: keyof Fleet, ...given: unknown[]): Promise<SluiceError> {
  const call = async () => (fleet[method] as (...all: unknown[]) => unknown)(...given);
  const refused = await call().catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(SluiceError);
  return refused as SluiceError;
}

const told = ({ code, problems }: SluiceError) => ({
  code,
  problems: problems.map(({ path, nearest }) => (nearest === undefined ? path : `${path} > ${nearest}`)),
});

describe('what a method of the library is given', () => {
  it('has no keys that it does not know, and everything that is wrong is told at once', async () => {
    const refused = await refusalOf('submitPlan', { plan: 7, snapshot: { a: 1 }, revison: 1 });
    expect(told(refused)).toEqual({
      code: 'USAGE',
      problems: ['plan', 'snapshots', 'snapshot > snapshots', 'revison > revision'],
    });
    expect(refused.message).toMatch(/submitPlan/);
  });

  it.each([
    ['attach', [{ resource: 'a', validaton: 'v' }], ['validation', 'validaton > validation']],
    ['attach', [{ resource: 'a', validation: 'v', arguments: [] }], ['arguments']],
    ['attachSkill', [{ resource: 'a', validation: 'v' }], ['skill', 'validation']],
    ['detach', [7], ['attachment']],
    ['remove', ['validations', 'v'], ['kind > validation']],
    ['resolve', [{ resources: 'a' }], ['resources']],
    ['explain', ['a', { projekt: 'p' }], ['where.projekt > project']],
    ['call', ['t', { arguments: {} }], ['input.arguments']],
    ['call', ['t', {}, 5], ['signal']],
    ['createPlan', [{}], ['resources']],
    ['createPlan', [], ['']],
    ['strategized', ['p', { comand: 'c' }], ['options.comand > command']],
    ['executed', ['p', undefined], ['snapshots']],
    ['fix', ['p', ['a']], ['snapshots']],
    ['fix', [undefined, {}, { revision: -1 }], ['plan', 'options.revision']],
    ['respond', ['p', 'retyr'], ['answer > retry']],
    ['apply', ['p', { snapshot: {} }], ['what.snapshot > snapshots', 'what']],
    ['apply', ['p', {}], ['what']],
    ['cancelPlan', ['p', 'because'], ['options']],
    ['plan', [], ['id']],
    ['plans', [{ phase: 'fixx', limit: 0 }], ['phase > fix', 'limit']],
    ['registerTool', [{ name: 't', code: '() => 1' }, { by: 'me' }], ['options.by']],
    ['registerTool', [{ kind: 'validation', name: 't', code: '() => 1' }], ['document.kind']],
    ['judge', [{}, 5], ['runs']],
    ['judge', [{}, [], { stict: true }], ['options.stict > strict']],
  ] satisfies [keyof Fleet, unknown[], string[]][])(
    '%s %j is refused: %j',
    async (method, given, problems) => {
      expect(told(await refusalOf(method, ...given))).toEqual({ code: 'USAGE', problems });
    },
  );

  it('is checked where a fleet is made', async () => {
    const refused = await createFleet({ rediss: 'redis://x' } as never).catch((error: unknown) => error);
    expect(told(refused as SluiceError)).toEqual({ code: 'USAGE', problems: ['rediss > redis'] });
  });

  it('names an event that there is, and a handler', async () => {
    const refused = await refusalOf('on', ['plan.retry.request', 'plan.applied'], 'no function');
    expect(told(refused)).toEqual({
      code: 'USAGE',
      problems: ['event[0] > plan.retry.requested', 'handler'],
    });
    expect(told(await refusalOf('on', 'plan.fixed', () => {}))).toMatchObject({ problems: [/^event/] });
    expect(told(await refusalOf('on', [], () => {}))).toMatchObject({ problems: ['event'] });
  });
});

describe('documents that were written apart', () => {
  it('are registered, attached and called with arguments that fit', async () => {
    await fleet.registerTool(defineTool({ name: 'length', code: '({ subject }) => subject.length' }));
    await fleet.registerValidation(longEnough);
    await fleet.registerSkill(defineSkill({ name: 'texts', tools: ['length', 'long-enough'] }));
    expect(await fleet.call('length', { subject: 'abc' })).toEqual({
      kind: 'value',
      value: 3,
      readOnly: 'enforced',
    });
    expect(await fleet.call('long-enough', { subject: 'abc', args: { least: 3 } })).toMatchObject({
      kind: 'verdict',
      verdict: { outcome: 'pass' },
    });
    const skill = { resource: 'text/skilled', skill: 'texts', arguments: { least: 1 } };
    expect(await fleet.attachSkill(skill)).toMatchObject({
      attachments: [{ validation: 'local/long-enough', arguments: { least: 1 } }],
      passedOver: ['local/length'],
    });
    const refused = await refusalOf('call', 'long-enough', { subject: 'abc', args: { lest: 3 } });
    expect(told(refused)).toMatchObject({ code: 'USAGE' });
    expect(refused.problems.map(({ path }) => path)).toContain('args.lest');
  });

  it('have types that no refused one fits', () => {
    const never = () => {
      // @ts-expect-error a validation never writes
      defineValidation({ name: 'v', code: '() => 1', writes: true });
      // @ts-expect-error a validation is read-only
      defineValidation({ name: 'v', code: '() => 1', capability: { read_only: false } });
      // @ts-expect-error a skill is no tool
      defineTool({ kind: 'skill', name: 'v', code: '() => 1' });
      // @ts-expect-error one scope at most
      fleet.attach({ resource: 'a', validation: 'v', project: 'p', plan: 'q' });
      // @ts-expect-error snapshots are what is applied, or digests
      fleet.apply('p', {});
      // @ts-expect-error no such event
      fleet.on('plan.fixed', () => {});
    };
    expect(never).toBeTypeOf('function');
  });
});

describe('a plan that refuses a command', () => {
  it('says how it stands', async () => {
    await fleet.registerValidation(nonEmpty);
    await fleet.createPlan({ plan: 'refusing', resources: ['text/a'] });
    const refused = await fleet.fix('refusing', { 'text/a': 'x' }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PlanRefusedError);
    expect((refused as PlanRefusedError).plan).toMatchObject({ phase: 'strategize', revision: 1 });
  });
});
