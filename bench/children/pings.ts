import { once } from 'node:events';
import { connect } from 'node:net';
import { runChild } from '../harness/in-child.js';

/** Milliseconds between an answer and the next PING. */
const PAUSE_MS = 2;

/** Asks Redis again and again how soon it answers; tells the longest wait since it was last asked. */
await runChild<{ port: number }>(async ({ port }) => {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  let [sent, longest] = [0, 0];
  const ping = () => {
    sent = performance.now();
    socket.write('PING\r\n');
  };
  socket.on('data', () => {
    longest = Math.max(longest, performance.now() - sent);
    setTimeout(ping, PAUSE_MS);
  });
  ping();
  return {
    answer() {
      const found = longest;
      longest = 0;
      return found;
    },
    stop: async () => socket.destroy(),
  };
});
