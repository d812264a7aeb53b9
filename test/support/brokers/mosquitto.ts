import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { untilSo } from '../bus-events.js';
import { freePort } from '../redis.js';
import { type ServerProcess, startProcess } from './process.js';

export interface TestMosquitto {
  readonly port: number;
  readonly url: string;
  /** Writes all that it holds to its file now. */
  save(): Promise<void>;
  /** SIGKILL: what it had not saved is lost. */
  kill(): Promise<void>;
  /** Starts it again on the same port with what was saved; ends it first when it still runs. */
  restart(): Promise<void>;
  /** Ends it and removes its data. May be called twice. */
  stop(): Promise<void>;
}

export interface MosquittoOptions {
  /** Saves at every change, before it acknowledges the next message. */
  savesAlways?: boolean;
  /** Lines of mosquitto.conf in place of `allow_anonymous true`. */
  settings?: readonly string[];
}

/** A real mosquitto on 127.0.0.1 for one test file, which keeps sessions and messages in a file. */
export async function startMosquitto({
  savesAlways = false,
  settings = ['allow_anonymous true'],
}: MosquittoOptions = {}): Promise<TestMosquitto> {
  const dir = await mkdtemp(join(tmpdir(), 'sluice-mosquitto-'));
  const port = await freePort();
  const config = join(dir, 'mosquitto.conf');
  const lines = [
    `listener ${port} 127.0.0.1`,
    'persistence true',
    `persistence_location ${dir}/`,
    'autosave_interval 1',
    `autosave_on_changes ${savesAlways}`,
    'max_inflight_messages 0',
    'max_queued_messages 0',
    // As root it would become another user, who cannot write into the folder.
    `user ${userInfo().username}`,
    ...settings,
  ];
  if (!savesAlways) lines.splice(3, 1, 'autosave_interval 0');
  await writeFile(config, `${lines.join('\n')}\n`);
  const start = () => startProcess('mosquitto', ['-c', config], { port, dir });
  let server: ServerProcess = await start();
  const saved = async () => (await stat(join(dir, 'mosquitto.db')).catch(() => undefined))?.mtimeMs ?? 0;
  return {
    port,
    url: `mqtt://127.0.0.1:${port}`,
    async save() {
      const before = await saved();
      server.signal('SIGUSR1');
      await untilSo(
        async () => (await saved()) > before,
        () => 'mosquitto does not save',
      );
    },
    kill: () => server.end(),
    async restart() {
      await server.end();
      server = await start();
    },
    async stop() {
      await server.end();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
