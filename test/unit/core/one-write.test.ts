import { describe, expect, it } from 'vitest';
import { writeOnceATurn } from '../../../src/core/one-write.js';

/** A socket that notes what reaches the network, one entry a write. */
function socket() {
  const writes: string[][] = [];
  let corked = 0;
  let waiting: string[] = [];
  const flush = () => {
    if (corked === 0 && waiting.length > 0) writes.push(waiting);
    if (corked === 0) waiting = [];
  };
  return {
    writes,
    write(text: string) {
      waiting.push(text);
      flush();
    },
    cork() {
      corked += 1;
    },
    uncork() {
      corked -= 1;
      flush();
    },
  };
}

function client() {
  const work: (() => void)[] = [];
  const sender = {
    stream: socket() as ReturnType<typeof socket> | undefined,
    sendCommand(text: string): string {
      this.stream?.write(text);
      return `sent ${text}`;
    },
  };
  writeOnceATurn(sender as never, (run) => work.push(run));
  const endTurn = () => {
    for (const run of work.splice(0)) run();
  };
  return { sender, endTurn };
}

describe('writing once a turn', () => {
  it('sends what came in one turn by one write, in order', () => {
    const { sender, endTurn } = client();
    const { writes } = sender.stream as ReturnType<typeof socket>;
    expect([sender.sendCommand('a'), sender.sendCommand('b')]).toEqual(['sent a', 'sent b']);
    expect(writes).toEqual([]);
    endTurn();
    sender.sendCommand('c');
    endTurn();
    expect(writes).toEqual([['a', 'b'], ['c']]);
  });

  it('lets go of the old socket and of the new one when the connection changes within a turn', () => {
    const { sender, endTurn } = client();
    const old = sender.stream as ReturnType<typeof socket>;
    sender.sendCommand('a');
    const fresh = socket();
    sender.stream = fresh;
    sender.sendCommand('b');
    sender.sendCommand('c');
    endTurn();
    expect([old.writes, fresh.writes]).toEqual([[['a']], [['b', 'c']]]);
  });

  it('sends as before where the client has no socket', () => {
    const { sender, endTurn } = client();
    sender.stream = undefined;
    expect(sender.sendCommand('a')).toBe('sent a');
    endTurn();
  });
});
