import { createConnection } from 'node:net';

const ANSWER_WITHIN_MS = 1_000;

/** One AUTH and one PING over a connection of its own: `ready`, `loading` (reads its file), or `silent`. */
export function probe(port: number, password: string): Promise<'ready' | 'loading' | 'silent'> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    let text = '';
    const finish = (answer: 'ready' | 'loading' | 'silent') => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(ANSWER_WITHIN_MS, () => finish('silent'));
    socket.once('connect', () => socket.write(`AUTH ${password}\r\nPING\r\n`));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (text.includes('+PONG')) finish('ready');
      else if (text.includes('-LOADING')) finish('loading');
    });
    socket.once('error', () => finish('silent'));
    socket.once('close', () => finish('silent'));
  });
}
