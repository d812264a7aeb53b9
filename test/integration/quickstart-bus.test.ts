import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, runSluice } from '../support/cli.js';
import { missingIn } from '../support/pages.js';

const page = readFileSync(join(ROOT, 'docs', 'quickstart-bus.md'), 'utf8');
const blocks = [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, text = '']) => ({
  language,
  text,
}));

/** One shell for the whole page, in a folder that looks like a checkout. */
class PageShell {
  readonly #bash: ChildProcess;
  #output = '';
  #wake = () => {};

  constructor(folder: string) {
    const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1' };
    for (const name of ['REDIS_URL', 'VITEST', 'NODE_ENV', 'SLUICE_ACTOR', 'SLUICE_CONFIG']) delete env[name];
    this.#bash = spawn('bash', ['--noprofile', '--norc', '-s'], {
      cwd: folder,
      env,
      stdio: 'pipe',
      detached: true,
    });
    // Jobs in process groups of their own, as in a terminal.
    this.type('set -m');
    for (const stream of [this.#bash.stdout, this.#bash.stderr])
      stream?.on('data', (piece: Buffer) => {
        this.#output += piece;
        this.#wake();
      });
  }

  get output(): string {
    return this.#output;
  }

  type(text: string): void {
    this.#bash.stdin?.write(`${text}\n`);
  }

  /** Until the output fits. */
  async shows(fits: (output: string) => boolean, ms = 60_000): Promise<void> {
    const until = Date.now() + ms;
    while (!fits(this.#output)) {
      if (Date.now() > until) throw new Error(`it did not come; the output is\n${this.#output}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, 1000).unref();
      });
    }
  }

  /** Ends the shell, and with it all that the page has started. */
  async end(): Promise<void> {
    const gone = once(this.#bash, 'exit').then(() => true);
    this.type('kill %1 %2 %3 %4 2> /dev/null; wait; exit');
    const late = new Promise<false>((resolve) => setTimeout(() => resolve(false), 20_000).unref());
    if (await Promise.race([gone, late])) return;
    process.kill(-(this.#bash.pid as number), 'SIGKILL');
    await gone;
  }
}

let folder: string;
let shell: PageShell;
beforeAll(async () => {
  await runSluice(['--version']);
  folder = await mkdtemp(join(tmpdir(), 'sluice-bus-'));
  for (const name of ['examples', 'scripts']) await symlink(join(ROOT, name), join(folder, name));
  shell = new PageShell(folder);
}, 120_000);
afterAll(async () => {
  await shell.end();
  await rm(folder, { recursive: true, force: true });
});

describe('docs/quickstart-bus.md', () => {
  const [first, answer, decisions, second] = blocks;

  it('has the blocks that it is tried by', () => {
    expect(blocks.map(({ language }) => language)).toEqual(['sh', 'json', '', 'sh']);
  });

  it('runs as written: one CloudEvent in, the decision out at the webhook and on NATS', async () => {
    shell.type(first?.text ?? '');
    const told = (answer?.text ?? '').trim().split('\n');
    await shell.shows((output) => missingIn(output, told).length === 0);
    const lines = (decisions?.text ?? '').trim().split('\n');
    // The two come in either order.
    await shell.shows((output) => lines.every((line) => missingIn(output, [line]).length === 0));
  }, 120_000);

  it('shows the same request again as the same evaluation, over HTTP and NATS, and no dead letter', async () => {
    const before = shell.output.length;
    shell.type((second?.text ?? '').replace(/^kill .*$/m, 'echo the page is done'));
    await shell.shows((output) => output.includes('the page is done'));
    const later = shell.output.slice(before);
    expect(later).toContain('"outcome":"repeated"');
    expect(later).toContain('sent as SLUICE_COMMANDS 1');
    expect(later).toMatch(/consumer\s+webhook/);
    expect(shell.output.match(/^nats: dev\.sluice\.evaluation\.passed/gm)).toHaveLength(1);
    expect(shell.output.match(/^webhook: dev\.sluice\.evaluation\.passed/gm)).toHaveLength(1);
  }, 120_000);
});
