import type { RedisContext } from './context.js';

/** Most packs, and characters of them, that go into one call: others have their turn after it. */
const MOST_PACKS = 300;
const MOST_CHARACTERS = 256 * 1024;

interface Call {
  packs: string[];
  characters: number;
  answer: Promise<'stored' | 'late'>;
}

/**
 * Records what packs of a chunk that end side by side brought, with one call of a script for all of a turn of
 * the event loop. Each is told when its own results are stored, and all of them when the call fails.
 */
export class SideBySide {
  readonly #context: Pick<RedisContext, 'scripts' | 'prefix'>;
  readonly #lateKept: number;
  readonly #calls = new Map<string, Call>();

  /** `lateKept`: how many results that came too late are kept. */
  constructor(context: Pick<RedisContext, 'scripts' | 'prefix'>, lateKept: number) {
    this.#context = context;
    this.#lateKept = lateKept;
  }

  /** `pack`: its results as JSON. */
  record(chunk: string, pack: string): Promise<'stored' | 'late'> {
    const call = this.#calls.get(chunk) ?? this.#open(chunk);
    call.packs.push(pack);
    call.characters += pack.length;
    if (call.packs.length >= MOST_PACKS || call.characters > MOST_CHARACTERS) this.#calls.delete(chunk);
    return call.answer;
  }

  #open(chunk: string): Call {
    const packs: string[] = [];
    const turn = new Promise<void>((resolve) => process.nextTick(resolve));
    const call: Call = { packs, characters: 0, answer: turn.then(() => this.#send(chunk, call)) };
    this.#calls.set(chunk, call);
    return call;
  }

  async #send(chunk: string, call: Call): Promise<'stored' | 'late'> {
    if (this.#calls.get(chunk) === call) this.#calls.delete(chunk);
    const { scripts, prefix } = this.#context;
    const stored = await scripts['record-packs'](prefix, chunk, this.#lateKept, ...call.packs);
    return stored === 1 ? 'stored' : 'late';
  }
}
