import { describe, expect, it } from 'vitest';
import { judgeFleet, judgeHost, judgeNeeds, runnersCheck } from '../../../src/doctor/checks/runners.js';

const NOW = 1_700_000_000_000;
const none = { dir: '.sluice', env: {} };

describe('the runners of a machine', () => {
  it('are named, and why the others are not there', () => {
    const missing = { ansible: 'ansible-playbook is not in PATH' };
    expect(judgeHost({ serves: ['command', 'mcp:x', 'pure'], missing })).toMatchObject([
      { status: 'ok', found: 'this machine has command, mcp:x' },
      { status: 'warn', found: 'no ansible here: ansible-playbook is not in PATH' },
    ]);
    expect(judgeHost({ serves: ['pure'], missing: {} })).toMatchObject([
      { found: 'this machine has no runner' },
    ]);
  });
});

describe('the runners of a machine whose workers take none of their jobs', () => {
  it('are named with the setting that keeps them idle', () => {
    const takesNone = 'worker.runner_concurrency is 0 in the settings';
    expect(judgeHost({ serves: ['command', 'pure'], missing: {}, takesNone })).toMatchObject([
      { status: 'ok', found: 'this machine has command' },
      { status: 'warn', found: `${takesNone}: workers here take no check with a runner` },
    ]);
  });
});

describe('what registered documents need', () => {
  const host = { serves: ['command', 'pure'], missing: { 'mcp:held': 'no bwrap' } };
  const workers = [{ worker: 'a', serves: ['ansible', 'pure'] }];
  const needed = (...needs: string[]) => needs.map((need) => ({ need, by: ['local/a', 'local/b'] }));
  const found = (...needs: string[]) => judgeNeeds({ workers, needed: needed(...needs) }, host);

  it('is no finding where this machine or a living worker serves it', () => {
    expect(found('command', 'ansible')).toEqual([]);
  });

  it.each([
    ['mcp:scan', 'Name scan under mcp_servers in the settings of the workers, or correct mcp_server'],
    ['plugin:lint', 'Name the module of plugin lint under plugins in the settings of the workers'],
    ['mcp:held', 'Checks that need it wait until their deadline'],
  ])('is told with who needs it and what to do where nobody serves %s', (need, advice) => {
    expect(found(need)).toEqual([
      {
        status: 'warn',
        found: `${need} is served neither here nor by a living worker; needed by local/a, local/b`,
        advice: expect.stringContaining(advice),
      },
    ]);
  });

  it('is told of all where workers here take no job of a runner', () => {
    const idle = { ...host, takesNone: 'so set' };
    expect(judgeNeeds({ workers: [], needed: needed('command') }, idle)).toHaveLength(1);
  });

  it('is told twenty times, and then by number', () => {
    const many = found(...Array.from({ length: 23 }, (_, n) => `mcp:s${n}`));
    expect(many).toHaveLength(21);
    expect(many.at(-1)?.found).toBe('3 more needs of registered documents are served by none');
  });
});

describe('the runners of a fleet', () => {
  const workers = [
    { worker: 'a', serves: ['command', 'graph', 'pure'] },
    { worker: 'b', serves: ['graph', 'pure'] },
  ];
  const waiting = [
    { chunk: 'e1', needs: ['ansible'], since: NOW + 5 },
    { chunk: 'e2', needs: ['ansible', 'mcp:x'], since: NOW },
  ];

  it('are told by what is served, and by whom', () => {
    expect(
      judgeFleet({ workers, waiting: [], isCut: false }).map(({ status, found }) => [status, found]),
    ).toEqual([
      ['ok', 'command is served by one worker: a'],
      ['ok', 'graph is served by 2 workers: a, b'],
      ['ok', 'pure is served by 2 workers: a, b'],
    ]);
    expect(judgeFleet({ workers: [], waiting: [], isCut: false })).toMatchObject([
      { status: 'ok', found: 'no worker is alive on this Redis' },
    ]);
  });

  it('are told with what waits for each that nobody has, since when, and what to do', () => {
    const since = new Date(NOW).toISOString();
    const found = judgeFleet({ workers, waiting, isCut: false }).filter(({ status }) => status === 'warn');
    expect(found).toMatchObject([
      { found: `2 evaluations wait for ansible since ${since}, which no living worker serves` },
      { found: `1 evaluation waits for mcp:x since ${since}, which no living worker serves` },
    ]);
    for (const { advice } of found) expect(advice).toContain('sluice worker');
  });

  it('say that there may be more where not all was looked at', () => {
    const [found] = judgeFleet({ workers, waiting, isCut: true }).filter(({ status }) => status === 'warn');
    expect(found?.found).toMatch(/^2 or more evaluations wait/);
  });
});

describe('the check of runners', () => {
  it('finds nothing where there is nothing to ask', async () => {
    expect(await runnersCheck.run(none)).toEqual([]);
  });

  it('leaves it to the check of Redis to say that it does not answer', async () => {
    const refused = () => Promise.reject(new Error('away'));
    const host = async () => ({ serves: ['pure'], missing: {} });
    expect(await runnersCheck.run({ ...none, host, fleet: refused })).toMatchObject([{ status: 'ok' }]);
    expect(await runnersCheck.run({ ...none, host: refused })).toMatchObject([
      { status: 'warn', found: 'the runners could not be looked at: away' },
    ]);
  });
});
