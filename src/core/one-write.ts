/** What of a socket is needed to hold back what is written to it. */
export interface Socket {
  cork(): void;
  uncork(): void;
}

/** What of a client of Redis is needed. A client of a cluster has no socket of its own. */
export interface Sender<Args extends unknown[]> {
  stream?: Socket;
  sendCommand(...args: Args): unknown;
}

/**
 * Makes a client send with one write what it is given in one turn of the event loop: a write costs more than
 * most commands. `later` runs what it is given when the turn is over. Order, answers and what is sent again
 * after an outage stay as they are, which is not so with pipelines: the rest of one that was answered in part
 * is refused when the connection breaks.
 */
export function writeOnceATurn<Args extends unknown[]>(
  client: Sender<Args>,
  later: (work: () => void) => void,
): void {
  const send = client.sendCommand.bind(client);
  let held: Socket | undefined;
  client.sendCommand = (...args) => {
    const { stream } = client;
    if (stream !== undefined && stream !== held) {
      held = stream;
      stream.cork();
      later(() => {
        if (held === stream) held = undefined;
        stream.uncork();
      });
    }
    return send(...args);
  };
}
