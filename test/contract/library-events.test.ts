import { describe, expect, it } from 'vitest';
import { createFleet, type EventName, type Fleet, type FleetEvent } from '../../src/index.js';
import { Subscriptions } from '../../src/library/subscriptions.js';

async function gated(options?: Parameters<typeof createFleet>[0]): Promise<Fleet> {
  const fleet = await createFleet(options);
  await fleet.registerValidation({ name: 'never', code: '() => ({ passed: false, message: "no" })' });
  await fleet.attach({ resource: 'text/a', validation: 'never' });
  return fleet;
}

describe('handlers of events', () => {
  it('get the data of their event, told apart by its name', async () => {
    const fleet = await gated();
    const heard = new Promise<string>((resolve) => {
      fleet.on(['plan.retry.requested', 'plan.failed'], (event) => {
        if (event.name === 'plan.retry.requested') resolve(event.data.next_on_failure);
        else resolve(event.data.message);
      });
    });
    await fleet.submitPlan({ plan: 'p', snapshots: { 'text/a': 'x' } });
    expect(await heard).toBe('fix');
    await fleet.close();
  });

  it('that throw are told to onError, with their event, and the events go on', async () => {
    const told: [string, EventName | undefined][] = [];
    const fleet = await gated({
      onError: (error, event?: FleetEvent) => {
        told.push([error.message, event?.name]);
        throw new Error('onError itself is broken');
      },
    });
    fleet.on('plan.retry.requested', () => {
      throw new Error('broken handler');
    });
    fleet.on('plan.retry.requested', async () => {
      throw 'no error at all';
    });
    const cancelled = new Promise((resolve) => {
      fleet.on('plan.cancelled', resolve);
      fleet.on('plan.retry.requested', ({ subject }) => fleet.cancelPlan(subject));
    });
    await fleet.submitPlan({ plan: 'p', snapshots: { 'text/a': 'x' } });
    await cancelled;
    await fleet.close();
    expect(told).toEqual([
      ['broken handler', 'plan.retry.requested'],
      ['no error at all', 'plan.retry.requested'],
    ]);
  });
});

describe('following events', () => {
  it('tells trouble once for each time that it begins, and goes on where it was', async () => {
    const answers: (Error | string)[] = [
      new Error('gone'),
      new Error('still gone'),
      '{"id":"1","type":"dev.sluice.plan.applied.v1","subject":"p"}',
      new Error('gone again'),
      '{"id":"2","type":"dev.sluice.plan.applied.v1","subject":"q"}',
    ];
    let asked = 0;
    const outbox = {
      async lastEvent() {
        asked += 1;
        if (asked === 1) throw new Error('not there yet');
        return '0';
      },
      async events() {
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        await new Promise((resolve) => setTimeout(resolve, 1));
        return answer === undefined ? [] : [{ position: '1', event: { id: '', type: '', json: answer } }];
      },
    };
    const told: string[] = [];
    const subscriptions = new Subscriptions(outbox as never, (error) => told.push(error.message), 1);
    const seen: string[] = [];
    await new Promise<void>((resolve) => {
      subscriptions.on(['plan.applied'], ({ subject }) => {
        seen.push(subject);
        if (subject === 'q') resolve();
      });
    });
    await subscriptions.close();
    expect(seen).toEqual(['p', 'q']);
    expect(told).toEqual(['not there yet', 'gone again']);
  });
});
