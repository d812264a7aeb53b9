import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.js';
import { formatProblem, SluiceError } from '../../src/core/problem.js';

let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-settings-'));
});

afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

async function problemsOf(text: string): Promise<string[]> {
  const file = join(dir, 'sluice.yaml');
  await writeFile(file, text);
  const error = await loadConfig(file).then(
    () => undefined,
    (refused: unknown) => refused,
  );
  if (!(error instanceof SluiceError)) throw new Error(`not refused: ${String(error)}`);
  return error.problems.map((problem) => formatProblem({ ...problem, file: 'f' }));
}

/** Nine levels of nine aliases each. */
function bomb(): string {
  const levels = Array.from({ length: 9 }, (_, n) => {
    const items = Array(9).fill(n === 0 ? 'x' : `*a${n - 1}`);
    return `a${n}: &a${n} [${items.join(', ')}]`;
  });
  return `${levels.join('\n')}\n`;
}

describe('paths', () => {
  it('are taken from the folder of the settings file where they begin with a dot', async () => {
    const file = join(dir, 'places.yaml');
    await writeFile(
      file,
      `mcp_servers:
  near: { command: [node, ./server.mjs, --flag], paths: [., /srv/data] }
  far: { url: https://example.org/mcp }
plugins: [../plugin.mjs, a-package]
runners: { paths: [./tools] }
ansible: { private_key_file: ./key }
references: { folders: [./evidence] }
http: { cert: ./cert.pem, key: /etc/key.pem }
sinks:
  - ndjson=./events.ndjson
  - kind: nats
    target: nats://h
    options: { password: { file: ./secret }, tls: { ca: ./ca.pem, key: /etc/k }, headers: { file: { env: ./X } } }
sources:
  - { kind: nats, target: x, options: { token: { file: ../token }, secrets: [{ file: ./one }, { env: TWO }], subject: ./not-a-file } }
`,
    );
    const config = await loadConfig(file);
    expect(config.mcp_servers.near).toMatchObject({
      command: ['node', join(dir, 'server.mjs'), '--flag'],
      paths: [dir, '/srv/data'],
    });
    expect(config.plugins).toEqual([
      { module: join(dir, '..', 'plugin.mjs'), network: false },
      { module: 'a-package', network: false },
    ]);
    expect(config.runners.paths).toEqual([join(dir, 'tools')]);
    expect(config.ansible.private_key_file).toBe(join(dir, 'key'));
    expect(config.references.folders).toEqual([join(dir, 'evidence')]);
    expect(config.http).toMatchObject({ cert: join(dir, 'cert.pem'), key: '/etc/key.pem' });
    expect(config.sinks.map(({ target, options }) => [target, options])).toEqual([
      ['./events.ndjson', {}],
      [
        'nats://h',
        {
          password: { file: join(dir, 'secret') },
          tls: { ca: join(dir, 'ca.pem'), key: '/etc/k' },
          headers: { file: { env: './X' } },
        },
      ],
    ]);
    expect(config.sources[0]?.options).toEqual({
      token: { file: join(dir, '..', 'token') },
      secrets: [{ file: join(dir, 'one') }, { env: 'TWO' }],
      subject: './not-a-file',
    });
  });
});

describe('settings', () => {
  it.each([
    ['redis: 5', 'f: redis: expected text; found 5'],
    [
      'mcp_servers: { a: { command: [node], comand: 3 } }',
      'f: mcp_servers.a.comand: unknown key; allowed: command, env, env_from, network, paths, sessions; did you mean "command"?',
    ],
    [
      'mcp_servers: { a: { url: "https://x.example", header: {} } }',
      'f: mcp_servers.a.header: unknown key; allowed: url, headers, headers_from, sessions; did you mean "headers"?',
    ],
    [
      'mcp_servers: { 9a: { command: [node] } }',
      'f: mcp_servers.9a: expected a name of a letter, then letters, digits, _ or -; found {"command":["node"]}',
    ],
    ['sinks: ndjson=x', 'f: sinks: expected a list; found "ndjson=x"'],
    [
      'sinks: [{ kind: nats, targt: x }]',
      'f: sinks[0].target: expected text; found nothing',
      'f: sinks[0].targt: unknown key; allowed: name, kind, target, types, projects, scenarios, projection, concurrency, rate, order, tries, give_up_after, options; did you mean "target"?',
    ],
    [
      'sinks: [ndjson=x, { kind: nats, target: h, order: subjct, concurrency: 65, name: 9 }]',
      'f: sinks[1].name: expected text; found 9',
      'f: sinks[1].concurrency: expected at most 64; found 65',
      'f: sinks[1].order: is not one of its values; found "subjct"; allowed: none, subject; did you mean "subject"?',
    ],
    ['sinks: [7]', 'f: sinks[0]: expected KIND=TARGET, or an object with kind and target; found 7'],
    ['sinks: [""]', 'f: sinks[0]: expected at least 1; found ""'],
    [
      'sources: [{ kind: nats, target: x, trust_actr: true }]',
      'f: sources[0].trust_actr: unknown key; allowed: name, kind, target, concurrency, actor, trust_actor, options; did you mean "trust_actor"?',
    ],
    ['plugins: [{ module: 5, network: false }]', 'f: plugins[0].module: expected text; found 5'],
    ['plugins: [7]', 'f: plugins[0]: expected a module, or {module, network}; found 7'],
    ['worker: 3', 'f: worker: expected a mapping; found 3'],
    ['worker: { concurrency: many }', 'f: worker.concurrency: expected a number; found "many"'],
    ['worker: { concurrency: 1.5 }', 'f: worker.concurrency: expected a whole number; found 1.5'],
    ['worker: { concurrency: 0 }', 'f: worker.concurrency: expected at least 1; found 0'],
    ['events: { per_check: "yes" }', 'f: events.per_check: expected true or false; found "yes"'],
    [
      'evaluation: { informational_errors: blok }',
      'f: evaluation.informational_errors: is not one of its values; found "blok"; allowed: ignore, block; did you mean "block"?',
    ],
    [
      'evaluation: { deadline: 24 }',
      'f: evaluation.deadline: expected a duration such as 250ms, 30s, 5m, 24h or 7d; found 24',
    ],
  ])('say in plain words what is wrong with %s', async (text, ...expected) => {
    expect(await problemsOf(text)).toEqual(expected);
  });

  it.each([
    ['evaluation: { retention: 3651d }', 'f: evaluation.retention: expected at most 3650d; found "3651d"'],
    ['worker: { drain: 25d }', 'f: worker.drain: expected at most 24d; found "25d"'],
  ])('refuse a duration that nothing can wait for: %s', async (text, expected) => {
    expect(await problemsOf(text)).toEqual([expected]);
  });

  it.each([
    ['a bomb of aliases', bomb()],
    ['a list that holds itself', '&a [*a]'],
    ['a value that holds itself', 'fleet: &a [*a]'],
    ['an alias of nothing', 'fleet: *nobody'],
    ['brackets without end', '['.repeat(50_000)],
    ['two documents', 'fleet: a\n---\nfleet: b\n'],
    ['broken flow', 'worker: {concurrency: 1\nfleet: ]'],
    ['more than settings can be', `# ${'x'.repeat(2 ** 20)}`],
  ])('refuse %s as bad settings', async (_name, text) => {
    expect((await problemsOf(text)).length).toBeGreaterThan(0);
  });

  it('refuse a device without an end', async () => {
    await expect(loadConfig('/dev/zero')).rejects.toMatchObject({ code: 'INVALID_CONFIG', exitCode: 2 });
  });

  it('say everything at once, unknown keys with the nearest', async () => {
    const problems = await problemsOf('worker: { concurency: 3 }\nredis: 5\nfleet: "1"\n');
    expect(problems).toHaveLength(3);
    expect(problems.join('\n')).toContain('did you mean "concurrency"?');
  });
});
