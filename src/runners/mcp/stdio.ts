import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { failure } from '../../core/failure.js';
import type { RunFailure } from '../../core/validators/validator.js';
import type { OpenProcess, Processes } from '../process/request.js';
import { type Connection, Lost, MOST_MESSAGE, type Noise } from './connection.js';
import { LineBuffer } from './lines.js';
import { type McpStdioSettings, secretsOf, taken } from './settings.js';

type Framing = typeof import('@modelcontextprotocol/sdk/shared/stdio.js');

/** Bytes that may wait for a server that does not read them. */
const MOST_UNREAD = 4 * MOST_MESSAGE;

/** Milliseconds in which what a server wrote before it ended still arrives. */
const LAST_WORDS_MS = 500;

const settled = (promise: Promise<unknown>, ms: number) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    void promise.finally(() => {
      clearTimeout(timer);
      resolve();
    });
  });

/** The protocol’s messages over the standard streams of a process: one a line. */
class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #lines = new LineBuffer(MOST_MESSAGE);
  #isOver = false;

  constructor(
    private readonly process: OpenProcess,
    private readonly framing: Framing,
    private readonly noise: Noise,
    /** Hears why nothing can come any more, where it is not the process’ end. */
    private readonly onBroken: (why: Lost) => void,
  ) {}

  async start(): Promise<void> {
    const { stdin, stdout, ended } = this.process;
    // A server that ends with something unread is told by its end.
    stdin.on('error', () => {});
    const closed = new Promise<void>((resolve) => {
      for (const event of ['end', 'close', 'error']) stdout.once(event, () => resolve());
    });
    stdout.on('data', (chunk: Buffer | string) => this.#read(Buffer.from(chunk as Buffer)));
    let hasEnded = false;
    void ended.then(async () => {
      hasEnded = true;
      await settled(closed, LAST_WORDS_MS);
      this.#over();
    });
    void closed.then(async () => {
      await settled(ended, LAST_WORDS_MS);
      if (!hasEnded) this.#break(new Lost('mcp_died', 'closed its standard output'));
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.process;
    if (this.#isOver || !stdin.writable) throw new Lost('mcp_died', 'took no more messages');
    if ('writableLength' in stdin && Number(stdin.writableLength) > MOST_UNREAD) {
      const why = new Lost('mcp_died', 'did not read what it was sent');
      this.#break(why);
      throw why;
    }
    stdin.write(this.framing.serializeMessage(message));
  }

  async close(): Promise<void> {
    this.#over();
  }

  #read(chunk: Buffer): void {
    if (this.#isOver) return;
    const lines = this.#lines.push(chunk);
    if (lines === undefined) {
      const most = MOST_MESSAGE / 2 ** 20;
      this.#break(new Lost('mcp_too_large', `sent a message of more than ${most} MiB`));
      return;
    }
    for (const line of lines) if (line.trim() !== '') this.#message(line);
  }

  #message(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = this.framing.deserializeMessage(line);
    } catch {
      this.noise.add(line);
      return;
    }
    this.onmessage?.(message);
  }

  #break(why: Lost): void {
    if (this.#isOver) return;
    this.onBroken(why);
    this.#over();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // What it still says is read and dropped, so that it can end.
    this.process.stdout.resume();
    this.onclose?.();
  }
}

function endOf({ exitCode, signal }: { exitCode: number | null; signal?: string }): string {
  return exitCode === null ? `was ended by ${signal ?? 'a signal'}` : `ended with exit code ${exitCode}`;
}

/** Starts the server in a process of its own. */
export async function connectStdio(
  server: string,
  settings: McpStdioSettings,
  processes: Processes,
  env: NodeJS.ProcessEnv,
  noise: Noise,
): Promise<Connection | RunFailure> {
  const { command, network, paths } = settings;
  const [program, ...rest] = command;
  if (program === undefined) return failure('mcp_not_configured', `the MCP server ${server} has no command`);
  const values = taken(server, 'env_from', settings.env_from, env);
  if (values.kind === 'failure') return values;
  const framing = await import('@modelcontextprotocol/sdk/shared/stdio.js');
  const process = await processes.open({
    argv: [program, ...rest],
    env: { ...settings.env, ...values.values },
    paths,
    network,
  });
  if ('kind' in process)
    return { ...process, message: `the MCP server ${server} could not be started: ${process.message}` };
  const { hide } = secretsOf(settings, env);
  noise.hide = hide;
  let broken: Lost | undefined;
  const transport = new StdioTransport(process, framing, noise, (why) => {
    broken = why;
    void process.stop();
  });
  return {
    transport,
    readOnly: process.readOnly,
    startReason: 'mcp_not_started',
    hide,
    evidence: () => hide(process.stderr()),
    statusOf: () => undefined,
    async fate() {
      if (broken !== undefined) return broken;
      await settled(process.ended, 1000);
      const end = await Promise.race([process.ended, undefined]);
      return new Lost('mcp_died', end === undefined ? 'was ended' : endOf(end));
    },
    stop: () => process.stop(),
  };
}
