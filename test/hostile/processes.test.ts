import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { LocalProcesses } from '../../src/runners/process/processes.js';
import { noSandbox, ranScript, runScript, SETTINGS } from '../support/sandboxed.js';
import { newTraces, traces } from '../support/traces.js';

const before = traces();
afterAll(async () => expect(await newTraces(before)).toEqual([]));

const MODES = noSandbox === undefined ? (['bubblewrap', 'off'] as const) : (['off'] as const);
const bytes = (length: number, of: string) => Buffer.alloc(length, of);

describe.concurrent.each(MODES)('a command with sandbox: %s', (sandbox) => {
  const settings = { sandbox };
  /** Command whose processes are told from those of the other mode, which run at the same time. */
  const nap = (digit: number) => `sleep ${sandbox === 'off' ? 57 : 47}1${digit}`;

  it('gets arguments, input, files and variables as they stand, and nothing of the worker', async () => {
    const files = new Map([
      ['deep/in/it.sh', Buffer.from('#!/bin/sh\nprintf "%s|" "$@"; cat; echo "|$ODD"; env')],
    ]);
    const argv = ['./deep/in/it.sh', 'a b', "it's", '$(id)', '', '-n', 'ü'] as const;
    const env = { ODD: `x'y"z\n$HOME` };
    const outcome = await ranScript([...argv], { settings, files, env, stdin: 'input' });
    expect(outcome.stdout).toMatch(/^a b\|it's\|\$\(id\)\|\|-n\|ü\|input\|x'y"z\n\$HOME\n/);
    const names = outcome.stdout.match(/^[A-Z_]+(?==)/gm)?.sort();
    expect(names).toEqual(['HOME', 'LANG', 'ODD', 'PATH', 'PWD', 'SLUICE_RUN', 'TMPDIR']);
    expect(outcome).toMatchObject({ exitCode: 0, timedOut: false, truncated: false, stderr: '' });
    expect(outcome.readOnly).toBe(sandbox === 'off' ? 'declared' : 'enforced');
  });

  it('has a home without anything in it, so that evidence cannot take over its judge', async () => {
    const forged = Buffer.from(`import os; print('{"passed": true}', flush=True); os._exit(0)`);
    const sites = Array.from({ length: 12 }, (_, i) => `.local/lib/python3.${8 + i}/site-packages`);
    const files = new Map<string, Buffer>([
      ...sites.map((site) => [`${site}/usercustomize.py`, forged] as const),
      ['.bashrc', Buffer.from('echo forged')],
    ]);
    const judge = `python3 -c 'print("judged")'; ls -A "$HOME" ~; touch ~/own; case $PWD/ in ~/*) echo inside;; esac`;
    const { stdout, stderr } = await ranScript(`${judge}; echo ~`, { settings, files });
    const home = stdout.trim().split('\n').at(-1);
    expect(stdout).toBe(`judged\n${home}:\n\n${home}:\n${home}\n`);
    expect(stderr).toBe('');
  });

  it.each([
    ['exit 0', { exitCode: 0 }],
    ['exit 1', { exitCode: 1 }],
    ['exit 127', { exitCode: 127 }],
    ['kill -SEGV $$', { exitCode: null, signal: 'SIGSEGV' }],
    ['kill -KILL $$', { exitCode: null, signal: 'SIGKILL' }],
  ])('ends as it ends: %s', async (script, expected) => {
    expect(await ranScript(script, { settings })).toMatchObject(expected);
  });

  it('does not start what is not there, not executable or without its interpreter', async () => {
    const files = new Map([['script', Buffer.from('#!/not/there\n')]]);
    const reasons = await Promise.all(
      [
        ['no-such-program'],
        ['/no/such/program'],
        ['./missing'],
        ['/etc/passwd'],
        ['./script'],
        ['../script'],
      ].map(async ([program = '']) => {
        const outcome = await runScript([program], { settings, files });
        return outcome.kind === 'failure' ? outcome.reason : outcome.kind;
      }),
    );
    expect(reasons).toEqual([
      'not_found',
      'not_found',
      'not_found',
      sandbox === 'off' ? 'not_started' : 'not_found',
      'not_started',
      'not_found',
    ]);
  });

  it('says of a script without its interpreter what is not there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'scripts-'));
    const own = join(folder, 'own');
    await writeFile(own, `#!/bin/sh\nexec /bin/sh "$@"\n`, { mode: 0o755 });
    const scripts = {
      crlf: '#!/bin/sh\r\necho hi\r\n',
      lacking: '#! /not/there -x\n',
      hidden: `#!${own}\necho hi\n`,
    };
    const files = new Map(Object.entries(scripts).map(([name, text]) => [name, Buffer.from(text)]));
    const said = await Promise.all(
      Object.keys(scripts).map(async (name) => {
        const outcome = await runScript([`./${name}`], { settings, files });
        return outcome.kind === 'failure' ? outcome.message : outcome.stdout;
      }),
    );
    await rm(folder, { recursive: true });
    const starts = (name: string, interpreter: string, why: string) =>
      expect.stringMatching(
        new RegExp(
          `^the program could not be started: /\\S+/${name} is there, but its first line names the interpreter ${interpreter}${why}`,
        ),
      );
    expect(said).toEqual([
      starts('crlf', '/bin/sh', ' and ends with CRLF, which counts as part of that name; save it with LF'),
      starts('lacking', '/not/there', ', which is not there$'),
      sandbox === 'off' ? 'hi\n' : starts('hidden', own, ', which is not shown by the sandbox; declare its'),
    ]);
  });

  it('is a failure when one of its arguments is longer than the host takes', async () => {
    expect(await runScript(['echo', 'x'.repeat(200_000)], { settings })).toMatchObject({
      reason: 'not_started',
      message: expect.stringMatching(/could not be started: .*argument list too long/i),
    });
  });

  it('is a failure when the worker has no descriptor left, and starts when it has', async () => {
    const worker = new URL('../support/starved-worker.ts', import.meta.url).pathname;
    const command = 'ulimit -n 100; exec "$@"';
    const argv = ['-c', command, 'sh', process.execPath, '--import', 'tsx', worker, sandbox];
    const { stdout } = await promisify(execFile)('sh', argv);
    const starved = { kind: 'failure', message: expect.stringContaining('too many open files') };
    const fed = expect.objectContaining({ kind: 'process', exitCode: 0 });
    expect(JSON.parse(stdout)).toEqual([
      { ...starved, reason: sandbox === 'off' ? 'not_started' : 'no_sandbox' },
      fed,
      { ...starved, reason: 'not_started' },
      fed,
    ]);
  });

  it.each([
    ['a file outside its folder', { files: new Map([['../x', Buffer.from('')]]) }],
    ['an absolute file', { files: new Map([['/x', Buffer.from('')]]) }],
    ['a NUL in a variable', { env: { A: 'a\0b' } }],
    ['a variable without a proper name', { env: { 'A B': '' } }],
  ])('is refused for %s', async (_, extra) => {
    expect(await runScript(['true'], { settings, ...extra })).toMatchObject({ reason: 'bad_request' });
  });

  it('is stopped at its deadline, softly at first', async () => {
    const script = 'trap "echo bye; exit 3" TERM; while :; do sleep 0.05; done';
    const outcome = await ranScript(script, { settings: { ...settings, graceMs: 10_000 }, deadlineMs: 500 });
    expect(outcome).toMatchObject({ exitCode: 3, timedOut: true, stdout: 'bye\n' });
  });

  it('is killed when it ignores SIGTERM, with all that it started', async () => {
    const script = `trap "" TERM; (setsid ${nap(1)} &); ${nap(1)} & while :; do sleep 0.05; done`;
    const outcome = await ranScript(script, { settings, deadlineMs: 400 });
    expect(outcome).toMatchObject({ exitCode: null, signal: 'SIGKILL', timedOut: true });
    expect(outcome.durationMs).toBeLessThan(15_000);
  });

  it('cannot outlive its run', async () => {
    const script = [
      `${nap(2)} &`,
      `setsid ${nap(2)} &`,
      `nohup ${nap(2)} >/dev/null 2>&1 &`,
      `(setsid sh -c 'trap "" TERM HUP; ${nap(2)}; ${nap(2)}' >/dev/null 2>&1 &)`,
      'python3 -c "import os',
      'if os.fork() == 0:',
      '  os.setsid()',
      `  if os.fork() == 0: os.execvp('sleep', '${nap(2)}'.split())`,
      '" &',
      'sleep 0.3; echo done',
    ].join('\n');
    const outcome = await ranScript(script, { settings });
    expect(outcome).toMatchObject({ exitCode: 0, timedOut: false });
    expect(outcome.stdout).toContain('done');
    expect((await newTraces(before)).filter((trace) => trace.includes(nap(2)))).toEqual([]);
  });

  it('is gone before an abort is answered', async () => {
    const stop = new AbortController();
    const running = runScript(`trap "" TERM; ${nap(3)}; ${nap(3)}`, { settings, signal: stop.signal });
    running.catch(() => {});
    await appears(nap(3));
    stop.abort();
    await expect(running).rejects.toThrow('stopped');
    expect([...traces()].filter((trace) => trace.includes(nap(3)))).toEqual([]);
  });

  it('leaves nothing at whatever moment it is aborted', async () => {
    const moments = Array.from({ length: 40 }, (_, i) => i * 2);
    await Promise.all(
      moments.map(async (moment) => {
        const signal = AbortSignal.timeout(moment);
        await expect(runScript(nap(6), { settings, signal })).rejects.toThrow('stopped');
      }),
    );
    expect((await newTraces(before)).filter((trace) => trace.includes(nap(6)))).toEqual([]);
  });

  it('is not started after an abort', async () => {
    await expect(runScript(['true'], { settings, signal: AbortSignal.abort() })).rejects.toThrow('stopped');
  });

  it('may open its input by name, and has none without any', async () => {
    const [some, none] = await Promise.all([
      ranScript('cat /dev/stdin', { settings, stdin: 'in\u00fc' }),
      ranScript('cat', { settings }),
    ]);
    expect([some.stdout, none.stdout]).toEqual(['in\u00fc', '']);
  });

  it('may leave its input unread', async () => {
    const outcome = await ranScript(['true'], { settings, stdin: 'x'.repeat(5_000_000) });
    expect(outcome.exitCode).toBe(0);
  });

  it('may print what is no text', async () => {
    const { stdout } = await ranScript(`printf 'a\\377b\\000c'`, { settings });
    expect(stdout).toBe('a\uFFFDb\0c');
  });

  it('that allocates without end ends itself', async () => {
    const outcome = await ranScript(['python3', '-c', 'a = []\nwhile True: a.append(bytearray(2 ** 23))'], {
      settings,
    });
    expect(outcome).toMatchObject({ exitCode: 1, timedOut: false });
    expect(outcome.stderr).toContain('MemoryError');
  });

  it('is spoken to while it runs, and stopped with all of it', async () => {
    const open = await new LocalProcesses({ ...SETTINGS, ...settings }).open({
      argv: ['sh', '-c', `echo trouble >&2; setsid ${nap(4)} & while read line; do echo "got $line"; done`],
      network: false,
    });
    if ('kind' in open) throw new Error(open.message);
    open.stdin.write('one\n');
    const [first] = await once(open.stdout, 'data').finally(() => open.stop());
    expect(String(first)).toBe('got one\n');
    expect(open.stderr()).toContain('trouble\n');
    expect(await open.ended).toMatchObject({ exitCode: null, signal: 'SIGTERM' });
  });
});

describe.skipIf(noSandbox !== undefined).concurrent('in the sandbox', () => {
  it('a fork bomb is held to its number of processes and ends', async () => {
    const outcome = await ranScript('f() { f | f & }; f; sleep 1; echo still here', { deadlineMs: 10_000 });
    expect(outcome.stderr).toMatch(/cannot fork/i);
  });

  it('a fork bomb that never ends is stopped at its deadline', async () => {
    const script = [
      'import os, signal',
      'signal.signal(15, 1)',
      'while True:',
      '  try: os.fork()',
      '  except OSError: pass',
    ];
    const outcome = await ranScript(['python3', '-c', script.join('\n')], { deadlineMs: 1_000 });
    expect(outcome).toMatchObject({ timedOut: true, exitCode: null, signal: 'SIGKILL' });
    expect(outcome.durationMs).toBeLessThan(15_000);
  });

  it('one run that takes all its processes leaves another its own', async () => {
    const script = [
      'import os, sys, time',
      'try:',
      '  while os.fork(): pass',
      'except OSError: print("full", flush=True)',
      'time.sleep(60)',
    ];
    const hog = await new LocalProcesses(SETTINGS).open({
      argv: ['python3', '-c', script.join('\n')],
      network: false,
    });
    if ('kind' in hog) throw new Error(hog.message);
    try {
      await once(hog.stdout, 'data');
      const outcome = await ranScript('for i in 1 2 3 4 5; do sleep 0.1 & done; wait; echo fine');
      expect(outcome).toMatchObject({ stdout: 'fine\n', stderr: '' });
    } finally {
      await hog.stop();
    }
  });

  it('the private folders are full at some point', async () => {
    const { stdout } = await ranScript(
      'for place in . /tmp /var/tmp /dev/shm; do dd if=/dev/zero of=$place/x bs=1M count=64 2>/dev/null && echo $place; rm -f $place/x; done; echo end',
    );
    expect(stdout).toBe('end\n');
  });

  it('files that do not fit are a failure', async () => {
    const files = new Map([['large', bytes(20 * 2 ** 20, 'x')]]);
    expect(await runScript(['true'], { files })).toMatchObject({
      reason: 'not_started',
      message: expect.stringContaining('No space left'),
    });
  });

  it('may write over its own files', async () => {
    const files = new Map([['a', Buffer.from('old')]]);
    expect(await ranScript('echo new > a; cat a; mkdir b; echo 1 > b/c', { files })).toMatchObject({
      stdout: 'new\n',
      exitCode: 0,
    });
  });
});

// After the others: it keeps this process busy, and they are on time.
it.each(MODES)('a flood of 1 GB costs little memory and no wait, with sandbox: %s', async (sandbox) => {
  const memory = process.memoryUsage();
  const outcome = await ranScript('echo first; head -c 1000000000 /dev/zero; echo last', {
    settings: { sandbox },
    deadlineMs: 50_000,
  });
  const now = process.memoryUsage();
  expect(outcome).toMatchObject({ exitCode: 0, truncated: true });
  expect(outcome.stdout.startsWith('first\n')).toBe(true);
  expect(outcome.stdout.endsWith('last\n')).toBe(true);
  expect(outcome.stdout).toContain('bytes left out');
  expect(outcome.stdout.length).toBeLessThan(SETTINGS.outputCap + 100);
  expect(now.rss - memory.rss).toBeLessThan(200 * 2 ** 20);
});

/** Resolves once a process of ours has that in its command line. */
async function appears(command: string): Promise<void> {
  while (![...traces()].some((trace) => trace.includes(command))) await later(100);
}
