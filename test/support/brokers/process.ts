import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';

/** A server in a process of its own, that goes when the test process goes. */
export interface ServerProcess {
  /** Ends it with SIGKILL unless told otherwise; may be called when it has ended. */
  end(signal?: NodeJS.Signals): Promise<void>;
  signal(signal: NodeJS.Signals): void;
}

export interface ServerOptions {
  port: number;
  /** Its working folder, where it may leave what it likes. */
  dir: string;
  env?: NodeJS.ProcessEnv;
  /** Looks at what it has logged. */
  isReady?: (log: string) => boolean;
}

/** Starts a server, and resolves once its port of 127.0.0.1 takes connections. Throws with its log when it ends. */
export async function startProcess(
  command: string,
  args: readonly string[],
  { port, dir, env = {}, isReady }: ServerOptions,
): Promise<ServerProcess> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: dir,
    env: { ...process.env, ...env },
  });
  const last = () => child.kill('SIGKILL');
  process.once('exit', last);
  child.once('exit', () => process.off('exit', last));
  let log = '';
  const keep = (chunk: Buffer) => {
    log = (log + chunk).slice(-20_000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  let trouble: string | undefined;
  child.once('error', (error) => {
    trouble = error.message;
  });
  while (trouble === undefined && !hasEnded(child)) {
    if ((isReady === undefined || isReady(log)) && (await takes(port))) return serverOf(child);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`${command} did not start: ${trouble ?? log.slice(-4_000)}`);
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

const serverOf = (child: ChildProcess): ServerProcess => ({
  async end(signal = 'SIGKILL') {
    if (hasEnded(child)) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  },
  signal: (signal) => void child.kill(signal),
});

function takes(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const end = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
