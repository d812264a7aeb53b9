import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createConnection, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { noSandbox, ranScript, runScript } from '../support/sandboxed.js';
import { newTraces, traces } from '../support/traces.js';

const before = traces();
afterAll(async () => expect(await newTraces(before)).toEqual([]));

const SECRET = 'secret-of-the-worker';

/** Everything that is declared to tools in here: a file, a folder, a socket that answers. */
let declared: string;
let redis: TestRedis;
let server: Server;

beforeAll(async () => {
  declared = await mkdtemp(join(tmpdir(), 'declared-'));
  await chmod(declared, 0o755);
  await writeFile(join(declared, 'file'), 'given', { mode: 0o666 });
  await mkdir(join(declared, 'open'));
  await chmod(join(declared, 'open'), 0o777);
  await writeFile(join(declared, 'private'), SECRET, { mode: 0o600 });
  server = createServer((socket) => socket.on('error', () => {}).end(SECRET)).listen(
    join(declared, 'socket'),
  );
  await once(server, 'listening');
  await chmod(join(declared, 'socket'), 0o777);
  redis = await startTestRedis();
  process.env.SLUICE_TEST_SECRET = SECRET;
});

afterAll(async () => {
  delete process.env.SLUICE_TEST_SECRET;
  server.close();
  await redis.stop();
  await rm(declared, { recursive: true, force: true });
});

/** `name: yes` for each attempt that worked. */
function attempts(attempted: Readonly<Record<string, string>>): string {
  return Object.entries(attempted)
    .map(([name, command]) => `if (${command}) >/dev/null 2>&1; then echo '${name}: yes'; fi`)
    .join('\n');
}

const python = (...lines: string[]) => `python3 -c '${lines.join('\n')}'`;
const connects = (family: string, address: string) =>
  python('import socket', `s = socket.socket(socket.${family})`, `s.connect(${address})`);

describe.skipIf(noSandbox !== undefined)('a sandboxed command', () => {
  it('writes nothing but its private folders', async () => {
    const checkout = process.cwd();
    const places = [
      ...['/', '/usr', '/usr/bin', '/etc', '/etc/ssl', '/bin', '/lib', '/dev', '/proc', '/proc/sys/kernel'],
      ...['/home', '/root', '/run', '/var/run', '/var', '/sys', '/.sluice', checkout, declared],
      join(declared, 'open'),
    ];
    const { stdout, readOnly } = await ranScript(
      [
        attempts({
          ...Object.fromEntries(places.map((place) => [place, `touch ${place}/sluice-was-here`])),
          'given file': `echo x >> ${declared}/file`,
          'given file by mode': `chmod 777 ${declared}/file`,
          'given file by removing it': `rm -f ${declared}/file`,
          'host name': 'echo x > /proc/sys/kernel/hostname',
          'a new mount': 'mount -t tmpfs none . || mount -o remount,rw /usr || mount -o remount,rw /',
          'a new user': 'unshare -Ur true',
          'root again': 'su -c true || sudo -n true || setpriv --reuid 0 true',
          'a device': 'mknod x b 8 0 || mknod x c 1 1',
        }),
        'for place in . /tmp /var/tmp /dev/shm "$HOME" "$TMPDIR"; do touch $place/mine || echo cannot $place; done',
      ].join('\n'),
      { paths: [declared, checkout] },
    );
    expect(stdout).toBe('');
    expect(readOnly).toBe('enforced');
    for (const place of ['/tmp/mine', '/var/tmp/mine', '/dev/shm/mine']) {
      await expect(readFile(place)).rejects.toThrow('ENOENT');
    }
    expect(await readFile(join(declared, 'file'), 'utf8')).toBe('given');
  });

  it('reads nothing that is not given to it', async () => {
    const { stdout } = await ranScript(
      attempts({
        '/etc/shadow': 'cat /etc/shadow',
        '/root': 'ls /root',
        '/home': 'ls /home',
        'the checkout': `ls ${process.cwd()}`,
        "the host's /tmp": `ls ${tmpdir()}`,
        'the own environment': `env | grep -q ${SECRET}`,
        "the worker's environment": `cat /proc/*/environ | tr '\\0' '\\n' | grep -q ${SECRET}`,
        'the host by the first process': 'ls /proc/1/root/ | grep -q home',
        'a disk': 'cat /dev/vda /dev/sda',
        'the memory of the host': 'head -c 1 /dev/mem || head -c 1 /proc/kcore',
        'the log of the kernel': 'cat /dev/kmsg || dmesg',
      }),
    );
    expect(stdout).toBe('');
  });

  it('reads what is declared, and of that only what others may', async () => {
    const { stdout } = await ranScript(
      `cat ${declared}/file; ${attempts({ private: `cat ${declared}/private`, shadow: 'cat /etc/shadow' })}`,
      { paths: [declared, '/etc'] },
    );
    const asRoot = process.getuid?.() === 0;
    expect(stdout).toBe(asRoot ? 'given' : 'givenprivate: yes\n');
  });

  it('neither sees nor reaches processes of the host', async () => {
    const victim = spawn('sleep', ['300'], { stdio: 'ignore' });
    const { stdout } = await ranScript(
      `${attempts({
        'a signal to the host': `kill -0 ${process.pid} || kill -0 ${victim.pid}`,
        'a trace of the first process': python('open("/proc/1/mem", "r+b").read(1)'),
      })}\nls -d /proc/[0-9]* | wc -l`,
    );
    expect(Number(stdout)).toBeLessThan(10);
    expect(victim.exitCode ?? victim.signalCode).toBeNull();
    const gone = once(victim, 'exit');
    victim.kill('SIGKILL');
    await gone;
  });

  it('reaches no Redis, over TCP or over a Unix socket in a folder that it may read', async () => {
    const reached = {
      tcp: connects('AF_INET', `("127.0.0.1", ${redis.port})`),
      unix: connects('AF_UNIX', `"${declared}/socket"`),
      abstract: connects('AF_UNIX', '"\\0/tmp/.X11-unix/X0"'),
      vsock: connects('AF_VSOCK', '(2, 1024)'),
      'the usual places':
        'ls /run/* /var/run/* /var/run/docker.sock /run/redis/redis-server.sock | grep -q .',
    };
    const { stdout } = await ranScript(attempts(reached), { paths: [declared] });
    expect(stdout).toBe('');
    // The same attempts from outside do reach them.
    for (const place of [{ port: redis.port, host: '127.0.0.1' }, { path: join(declared, 'socket') }]) {
      const socket = createConnection(place);
      await once(socket, 'connect');
      socket.destroy();
    }
  });

  it('has the network when it asks for it, and then counts as declared', async () => {
    const { stdout, readOnly } = await ranScript(
      `${attempts({ tcp: connects('AF_INET', `("127.0.0.1", ${redis.port})`), hosts: 'grep -q . /etc/hosts' })}`,
      { network: true },
    );
    expect(stdout).toBe('tcp: yes\nhosts: yes\n');
    expect(readOnly).toBe('declared');
  });

  it('is nobody, without any privilege, in a session and with a name of its own', async () => {
    const { stdout } = await ranScript(
      'id -un; id -G | wc -w; grep -hE "^(CapPrm|CapEff|CapInh|CapAmb|NoNewPrivs)" /proc/self/status; hostname; ps -o sid= -p $$ | grep -v "^ *0$" | wc -l',
    );
    expect(stdout.split('\n').map((line) => line.replaceAll('\t', ' '))).toEqual([
      'nobody',
      '1',
      ...['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].map((set) => `${set}: 0000000000000000`),
      'NoNewPrivs: 1',
      'sandbox',
      '1',
      '',
    ]);
  });

  it('has programs that it needs: shells, Python, Node and users', async () => {
    const { stdout } = await ranScript(
      `python3 -c 'import ssl, getpass, multiprocessing; print(getpass.getuser(), multiprocessing.Lock())'; node -p 'require("os").userInfo().username; 6 * 7'`,
    );
    expect(stdout).toMatch(/^nobody <Lock.*>\n42\n$/);
  });
});

describe.skipIf(noSandbox !== undefined)('a declared path', () => {
  it.each([
    ['/', 'the whole host'],
    ['/proc/self', 'nothing of /proc'],
    ['/sys', 'nothing of /sys'],
    ['/dev/shm', 'nothing of /dev'],
    ['/run', 'nothing of /run'],
    ['/tmp', '/tmp of its own'],
    ['/var', '/var/tmp of its own'],
    ['etc', 'not absolute'],
    ['/etc/../proc', 'nothing of /proc'],
  ])('must not be %s', async (path, why) => {
    const failure = await runScript(['true'], { paths: [path] });
    expect(failure).toMatchObject({ kind: 'failure', reason: 'path_refused' });
    expect(failure).toHaveProperty('message', expect.stringContaining(why));
  });

  it('is judged by what a link leads to', async () => {
    await symlink('/proc', join(declared, 'link-out'));
    await symlink(join(declared, 'open'), join(declared, 'link-in'));
    expect(await runScript(['true'], { paths: [join(declared, 'link-out')] })).toMatchObject({
      reason: 'path_refused',
    });
    const { stdout } = await ranScript(['ls', '-d', `${declared}/link-in/.`], {
      paths: [join(declared, 'link-in')],
    });
    expect(stdout).toContain('link-in/.');
  });

  it.each(['off', 'bubblewrap'] as const)('is there, with sandbox: %s', async (sandbox) => {
    await symlink(join(declared, 'gone'), join(declared, `dangling-${sandbox}`));
    for (const name of ['gone', 'file/in', `dangling-${sandbox}`]) {
      const path = join(declared, name);
      expect(await runScript(['true'], { paths: [declared, path], settings: { sandbox } })).toEqual({
        kind: 'failure',
        reason: 'path_refused',
        message: `the declared path ${path} is not there on this worker`,
      });
    }
  });

  it('is no socket', async () => {
    const failure = await runScript(['true'], { paths: [join(declared, 'socket')] });
    expect(failure).toMatchObject({
      reason: 'path_refused',
      message: expect.stringContaining('neither file'),
    });
  });

  it('lies in what the operator allows', async () => {
    const settings = { paths: [join(declared, 'open')] };
    // Whether it is there or not is nothing that a tool is told.
    for (const name of ['file', 'absent', 'absent/in']) {
      const failure = await runScript(['true'], { paths: [join(declared, name)], settings });
      expect(failure).toMatchObject({
        reason: 'path_refused',
        message: expect.stringContaining('runners.paths'),
      });
    }
    expect(await ranScript(['true'], { paths: [join(declared, 'open')], settings })).toMatchObject({
      exitCode: 0,
    });
  });

  it.skipIf(process.getuid?.() !== 0)('is open to others when the worker is root', async () => {
    const failure = await runScript(['true'], { paths: [join(declared, 'private')] });
    expect(failure).toMatchObject({ reason: 'path_refused', message: expect.stringContaining('0600') });
  });

  it('leaves nothing of the sandbox in it', async () => {
    await ranScript(['true'], { paths: [declared], files: new Map([['a', Buffer.from('b')]]) });
    expect((await readdir(declared)).sort()).toEqual(
      expect.not.arrayContaining([expect.stringContaining('sluice')]),
    );
  });
});
