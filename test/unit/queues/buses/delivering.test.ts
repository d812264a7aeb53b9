import { describe, expect, it } from 'vitest';
import { deliverOn, Refused, type Session, Upset } from '../../../../queues/buses/delivering.js';
import type { OutgoingEvent } from '../../../../src/ports/sink.js';

const events = (...ids: string[]): OutgoingEvent[] => ids.map((id) => ({ id, type: 't', json: '{}' }));

type Answer = (id: string, isShared: boolean) => Promise<void>;

function bus(answer: Answer) {
  const said: string[] = [];
  const session = (name: string, isShared: boolean): Session => ({
    send: ({ id }) => answer(id, isShared),
    end: () => void said.push(`end ${name}`),
    drop: () => void said.push(`drop ${name}`),
  });
  let count = 0;
  return {
    said,
    shared: async () => session('shared', true),
    own: async () => session(`own ${++count}`, false),
  };
}

const deliver = (answer: Answer, ids: string[], timeoutMs = 5_000, signal?: AbortSignal) => {
  const sessions = bus(answer);
  return deliverOn(sessions, events(...ids), { timeoutMs, signal }).then((failures) => ({
    failures,
    said: sessions.said,
  }));
};

describe('delivering on a session', () => {
  it('tells what is refused from what is away', async () => {
    const { failures } = await deliver(
      async (id) => {
        if (id === 'b') throw new Refused('no', { isFinal: true, response: 'said so' });
        if (id === 'c') throw new Error('');
      },
      ['a', 'b', 'c'],
    );
    expect(failures).toEqual([
      { id: 'b', kind: 'refused', reason: 'no', final: true, response: 'said so' },
      { id: 'c', kind: 'away', reason: 'the connection failed' },
    ]);
  });

  it('finds the one event that upsets, and delivers the others', async () => {
    const { failures, said } = await deliver(
      async (id, isShared) => {
        if (id !== 'a' && (isShared || id === 'c')) throw new Upset('closed');
      },
      ['a', 'b', 'c', 'd'],
    );
    expect(failures).toEqual([{ id: 'c', kind: 'refused', reason: 'closed' }]);
    expect(said).toEqual(['end own 1', 'end own 2']);
  });

  it('gives up the rest when the sink goes away meanwhile', async () => {
    const { failures } = await deliver(
      async (id, isShared) => {
        if (isShared) throw new Upset('closed');
        if (id === 'b') throw new Error('gone');
      },
      ['a', 'b', 'c'],
    );
    expect(failures).toEqual(['b', 'c'].map((id) => ({ id, kind: 'away', reason: 'gone' })));
  });

  it('ends what does not answer in time, and keeps what has', async () => {
    let lose = (_: Error) => {};
    const lost = new Promise<void>((_, reject) => {
      lose = reject;
    });
    const sessions = bus((id) => (id === 'a' ? Promise.resolve() : lost));
    const session = await sessions.shared();
    session.drop = () => {
      sessions.said.push('dropped');
      lose(new Error('the connection was lost'));
    };
    const failures = await deliverOn({ shared: async () => session, own: sessions.own }, events('a', 'b'), {
      timeoutMs: 20,
      signal: undefined,
    });
    expect(failures).toEqual([{ id: 'b', kind: 'away', reason: 'the broker does not answer in time' }]);
    expect(sessions.said).toEqual(['dropped']);
  });
});
