import type { Redis } from 'ioredis';

/** One command in so many is timed: the others pay for a count alone. */
export const TIMED = 16;

/** Tells how long commands of a client take, in seconds; not those that wait for something on purpose. */
export function timeRoundTrips(client: Redis, told: (seconds: number) => void): void {
  const send = client.sendCommand.bind(client);
  let sent = 0;
  // A client of a cluster is given more than the command.
  client.sendCommand = (...given: Parameters<Redis['sendCommand']>) => {
    sent += 1;
    if (sent % TIMED !== 0) return send(...given);
    const started = performance.now();
    const done = () => told((performance.now() - started) / 1000);
    given[0].promise.then(done, done);
    return send(...given);
  };
}
