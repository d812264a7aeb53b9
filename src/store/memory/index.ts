import type { Store } from '../../ports/store.js';
import { MemoryBatches } from './batches.js';
import { MemoryEvaluations } from './evaluations.js';
import { MemoryLetters } from './letters.js';
import { MemoryLimits } from './limits.js';
import { MemoryOutbox } from './outbox.js';
import { MemoryPlans } from './plans.js';
import { MemoryRegistry } from './registry.js';
import { MemoryRetention } from './retention.js';
import { MemoryRoster } from './roster.js';
import { MemorySinks } from './sinks.js';
import { MemoryState } from './state.js';
import { MemoryTokens } from './tokens.js';
import { MemoryUnserved } from './unserved.js';

/** A store that ends with the process: the inline engine's. */
export function openMemoryStore(options: { outboxCap: number }): Store {
  const state = new MemoryState(options.outboxCap);
  const registry = new MemoryRegistry();
  return {
    batches: new MemoryBatches(state),
    evaluations: new MemoryEvaluations(state),
    retention: new MemoryRetention(state),
    outbox: new MemoryOutbox(state),
    roster: new MemoryRoster(),
    registry,
    plans: new MemoryPlans(state, registry),
    unserved: new MemoryUnserved(state),
    letters: new MemoryLetters(state),
    sinks: new MemorySinks(state),
    tokens: new MemoryTokens(),
    limits: new MemoryLimits(),
    durable: false,
    async close() {},
  };
}
