import { describe, expect, it } from 'vitest';
import { JobSignals } from '../../../queues/job-signals.js';

describe('signals of jobs', () => {
  it('are one for each job, and abort with those that are in hand', async () => {
    const signals = new JobSignals();
    let ended: AbortSignal | undefined;
    await signals.during(async (signal) => {
      ended = signal();
    });
    const told = await signals.during((one) =>
      signals.during(async (other) => {
        expect(one()).toBe(one());
        expect(one()).not.toBe(other());
        signals.abort('enough');
        return [one().aborted, one().reason, other().aborted];
      }),
    );
    expect(told).toEqual([true, 'enough', true]);
    expect(ended?.aborted).toBe(false);
  });

  it('are aborted from the beginning for a job that asks too late', async () => {
    const signals = new JobSignals();
    signals.abort('enough');
    expect(await signals.during(async (signal) => signal().aborted)).toBe(true);
  });

  it('are let go when a job throws', async () => {
    const signals = new JobSignals();
    let kept: AbortSignal | undefined;
    const failing = signals.during(async (signal) => {
      kept = signal();
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    signals.abort('enough');
    expect(kept?.aborted).toBe(false);
  });
});
