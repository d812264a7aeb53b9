import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readReport } from '../../../../src/core/validators/ansible-report.js';

const WORD = '0123456789abcdef';
const RECAP = { ok: 1, changed: 0, unreachable: 0, failed: 0, skipped: 0, rescued: 0, ignored: 0 };
const TASK = { host: 'h', play: 'p', task: 't', action: 'a', status: 'ok', message: '' };
const REPORT = {
  hosts: [['h', RECAP]],
  hosts_left_out: 0,
  tasks: [TASK, { ...TASK, cause: 'judged' }, { ...TASK, cause: 'answered' }],
  tasks_left_out: 2,
  no_hosts_matched: false,
};
const written = (report: unknown, word = WORD) => `\u001e${word}${JSON.stringify(report)}\n`;

describe('readReport', () => {
  it('finds the report among what else was written, and takes it out', () => {
    const { report, rest } = readReport(`[WARNING]: one${written(REPORT)}[WARNING]: two\n`, WORD);
    expect(report).toEqual({
      recap: { h: RECAP },
      hostsLeftOut: 0,
      tasks: REPORT.tasks,
      tasksLeftOut: 2,
      noHostsMatched: false,
    });
    expect(rest).toBe('[WARNING]: one[WARNING]: two\n');
  });

  it.each<[string, string]>([
    ['nothing', ''],
    ['another word', written(REPORT, 'ffffffffffffffff')],
    ['no word', written(REPORT, '')],
    ['half of it', written(REPORT).slice(0, 80)],
    ['no JSON', `\u001e${WORD}{]\n`],
    ['negative counts', written({ ...REPORT, tasks_left_out: -1 })],
    ['an unknown status', written({ ...REPORT, tasks: [{ ...TASK, status: 'fine' }] })],
    ['no hosts', written({ ...REPORT, hosts: undefined })],
    ['an array', written([])],
  ])('takes %s for no report', (_, text) => {
    expect(readReport(text, WORD).report).toBeUndefined();
  });

  it('never throws, and believes no line without the word', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const forged = `${before}${written(REPORT, 'f'.repeat(16))}${after}`;
        expect(readReport(forged, WORD).report).toBeUndefined();
        expect(readReport(`${before}${written(REPORT)}${after}`, WORD).report?.tasksLeftOut).toBe(2);
      }),
    );
  });

  it('keeps a host that is called __proto__', () => {
    const { report } = readReport(written({ ...REPORT, hosts: [['__proto__', RECAP]] }), WORD);
    expect(Object.keys(report?.recap ?? {})).toEqual(['__proto__']);
  });
});
