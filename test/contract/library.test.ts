import { describe, expect, it } from 'vitest';
import { createFleet, defineScenario, SluiceError } from '../../src/index.js';

const scenario = defineScenario('restart', {
  validation: {
    tasks: [
      {
        label: 'restarted',
        validator: 'pattern_match',
        where: 'executed_commands',
        pattern: 'systemctl restart',
      },
    ],
  },
});

describe('the library', () => {
  it('judges runs in this process and gives evaluations in input order', async () => {
    const fleet = await createFleet();
    const runs = ['systemctl restart nginx', 'ls'].map((command, i) => ({
      id: `r${i}`,
      tasks: [{ commands: [command] }],
    }));
    const { batch, evaluations } = await fleet.judge({ scenario }, runs);
    const verdicts: [string, boolean][] = [];
    for await (const { run, passed } of evaluations()) verdicts.push([run, passed]);
    await fleet.close();
    expect(verdicts).toEqual([
      ['r0', true],
      ['r1', false],
    ]);
    expect(batch).toMatchObject({ state: 'completed', total: 2, passed: 1, failed: 1 });
  });

  it('refuses broken runs with every problem and judges none', async () => {
    const fleet = await createFleet();
    const refused = await fleet
      .judge({ scenario }, [{ id: 1 }, {}, { id: 'a' }, { id: 'a' }])
      .catch((e: unknown) => e);
    await fleet.close();
    expect(refused).toBeInstanceOf(SluiceError);
    expect((refused as SluiceError).problems.map(({ path }) => path)).toEqual([
      'runs[0].id',
      'runs[1].id',
      'runs[3].id',
    ]);
  });

  it('carries out nothing once it is closed', async () => {
    const fleet = await createFleet();
    await fleet.close();
    const late = [fleet.submitPlan({ snapshots: { 'r/x': 1 } }), fleet.judge({ scenario }, [{ id: 'a' }])];
    for (const answer of late)
      await expect(answer).rejects.toMatchObject({ code: 'USAGE', message: /closed/ });
    await fleet.close();
  });

  it('refuses a broken scenario with every problem', () => {
    expect(() => defineScenario('s', { validation: { tasks: [{ validator: 'nope' }] } })).toThrow(/problem/);
  });
});
