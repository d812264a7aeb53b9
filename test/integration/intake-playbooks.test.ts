import { afterEach, expect, it } from 'vitest';
import { evaluationsOf, intakeOf } from '../../src/compose/intake.js';
import { idFrom } from '../../src/core/digest.js';
import { commandEvent, messageWith } from '../support/commands.js';
import { configWith, openTestFleet, outboxOf, type TestFleet } from '../support/fleet.js';
import { playbookTrouble } from '../support/playbooks.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const trouble = playbookTrouble();
if (trouble !== undefined) console.warn(`SKIPPED test/integration/intake-playbooks.test.ts: ${trouble}`);

let redis: TestRedis | undefined;
let fleet: TestFleet | undefined;
afterEach(async () => {
  await fleet?.close();
  await redis?.stop();
});

const PLAYBOOK = `
- hosts: localhost
  gather_facts: false
  vars_files: [../vars.yml]
  tasks:
    - ansible.builtin.assert: {that: wanted == 'ä'}
`;

const requested = (id: string, wanted: string) =>
  commandEvent(
    'evaluation.requested',
    id,
    {
      scenario: {
        key: 'site',
        validation: { job: [{ label: 'It is so', validator: 'ansible', ansiblePath: 'checks/site.yml' }] },
      },
      run: { id: `run-${id}` },
      files: { 'checks/site.yml': PLAYBOOK, 'vars.yml': `wanted: ${wanted}\n` },
    },
    { correlationid: `ticket-${id}` },
  );

it.skipIf(trouble !== undefined)(
  'a command with the files of its playbooks is judged by them, and its decision names who asked and for what',
  async () => {
    redis = await startTestRedis();
    fleet = await openTestFleet(redis.url, configWith());
    const { engine } = fleet;
    const [intake, evaluations] = [intakeOf(engine), evaluationsOf(engine)];
    const bus = { name: 'bus', actor: 'platform', trustActor: false };
    for (const event of [requested('good', 'ä'), requested('bad', 'a')])
      expect(await intake.handle(messageWith(event), bus)).toEqual({ kind: 'done' });
    for (const [id, passed] of [
      ['good', true],
      ['bad', false],
    ] as const) {
      const evaluation = idFrom('evaluation', '', '/ci', id);
      await expect
        .poll(() => evaluations.status(evaluation), { timeout: 30_000 })
        .toMatchObject({ state: 'decided', actor: 'platform', decision: { passed } });
      const own = (await outboxOf(engine.store)).filter(({ subject }) => subject === evaluation);
      expect(own).toMatchObject([
        { correlationid: `ticket-${id}`, data: { actor: 'platform' } },
        {
          type: `dev.sluice.evaluation.${passed ? 'passed' : 'failed'}.v1`,
          correlationid: `ticket-${id}`,
          data: { actor: 'platform', counts: { errored: 0, [passed ? 'passed' : 'failed']: 1 } },
        },
      ]);
    }
  },
);
