import { describe, expect, it, vi } from 'vitest';
import { Pressure } from '../../../src/app/pressure.js';
import type { Load } from '../../../src/core/pressure.js';

/** Jobs in one step of a fleet: with few of them every mark is near. */
const STEP = 10_000;

/** A fleet in which this many steps of jobs wait; from 10 on producers do. */
function fleetOf(waiting: number) {
  const fleet = { waiting, now: 1000, stepMs: 300, reads: 0, fails: false };
  const teller = { waits: vi.fn(), goesOn: vi.fn() };
  const pressure = new Pressure({
    marks: { waiting: 10 * STEP },
    clock: {
      now() {
        fleet.now += fleet.stepMs;
        return fleet.now;
      },
    },
    teller,
    async read(): Promise<Load> {
      fleet.reads += 1;
      if (fleet.fails) throw new Error('away');
      return { waiting: fleet.waiting * STEP };
    },
  });
  return { fleet, teller, pressure };
}

describe('producers', () => {
  it('go on while little waits, and look once in a while', async () => {
    const { fleet, pressure, teller } = fleetOf(3);
    fleet.stepMs = 1;
    for (let n = 0; n < 100; n += 1) await pressure.room();
    expect(fleet.reads).toBe(1);
    expect(teller.waits).not.toHaveBeenCalled();
  });

  it('wait while too much does, are told once why, and go on below nine tenths', async () => {
    const { fleet, pressure, teller } = fleetOf(12);
    const moved = vi.fn(() => {
      fleet.waiting = 8;
    });
    const waiting = pressure.room(undefined, moved);
    await vi.waitFor(() => expect(teller.waits).toHaveBeenCalledOnce());
    fleet.waiting = 9;
    await waiting;
    expect(moved).toHaveBeenCalledOnce();
    expect(teller.waits).toHaveBeenCalledOnce();
    expect(teller.goesOn).toHaveBeenCalledOnce();
  });

  it('wait no more once they are told to stop', async () => {
    const { pressure } = fleetOf(12);
    await pressure.room(AbortSignal.timeout(20));
  });

  it('that wait for nothing are refused, with the reason', async () => {
    const { fleet, pressure } = fleetOf(12);
    const refusal =
      '120000 jobs wait, and new work waits from 100000 on (backpressure.backlog). Nothing was accepted; try again later.';
    await expect(pressure.assertRoom()).rejects.toMatchObject({ code: 'UNAVAILABLE', message: refusal });
    fleet.waiting = 0;
    await pressure.assertRoom();
  });

  it('wait for a look where a mark is near, and for none where it is far', async () => {
    const { fleet, pressure } = fleetOf(8);
    await pressure.room();
    fleet.waiting = 11;
    await expect(pressure.assertRoom()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const { fleet: far, pressure: easy } = fleetOf(3);
    await easy.room();
    far.waiting = 11;
    await easy.assertRoom();
  });

  it('are held up by nothing that cannot be read', async () => {
    const { fleet, pressure } = fleetOf(12);
    fleet.fails = true;
    await pressure.room();
    await pressure.assertRoom();
  });
});
