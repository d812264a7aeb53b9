import { describe, expect, it } from 'vitest';
import { judgeFleet, judgeHost, runnersCheck } from '../../../src/doctor/checks/runners.js';

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
