import { backoffMs } from './backoff.js';

/** How it stands with a sink: whether it is tried, and when. All times in milliseconds since the epoch. */
export interface Circuit {
  /** `away`: paused, with one delivery as a probe after each pause; `disabled`: until it is enabled. */
  state: 'delivering' | 'away' | 'disabled';
  reason: string | null;
  /** When it came into this state. */
  since: number;
  /** When it is tried next; null: not by itself. */
  nextTry: number | null;
  /** Pauses without a success between them. */
  pauses: number;
  /** A probe is on its way. */
  probing: boolean;
  /** When it last took something; 0: never. */
  tookAt: number;
  /** When it was last found away; 0: never. */
  failedAt: number;
}

/** What came of a delivery for the sink as a whole. */
export type Sign =
  /** It answered: it took something, or refused it. */
  | { kind: 'works'; took: boolean }
  | { kind: 'away'; reason: string; retryAfterMs?: number }
  | { kind: 'gone'; reason: string };

/** How it stands at the start: as it was left; one that was away is tried at once. */
export function openCircuit(
  left: { state: Circuit['state']; reason: string | null; since: number } | undefined,
  now: number,
): Circuit {
  const fresh = { pauses: 0, probing: false, tookAt: 0, failedAt: 0 };
  if (left === undefined || left.state === 'delivering')
    return { state: 'delivering', reason: null, since: left?.since ?? now, nextTry: null, ...fresh };
  const { state, reason, since } = left;
  return { state, reason, since, nextTry: state === 'away' ? now : null, ...fresh };
}

/** May a delivery go on? `probe`: as the only one; `wait`: not now. */
export function mayTry(circuit: Circuit, now: number): 'go' | 'probe' | 'wait' {
  if (circuit.state === 'delivering') return 'go';
  if (circuit.state === 'disabled' || circuit.probing) return 'wait';
  return now >= (circuit.nextTry ?? 0) ? 'probe' : 'wait';
}

/**
 * The circuit after a delivery that was begun as `probe` or not. Several that fail at once, because all
 * were under way when the sink went away, make one pause; each failed probe makes a longer one.
 */
export function afterSign(
  circuit: Circuit,
  sign: Sign,
  begun: { probe: boolean; longestMs: number; jitter: number },
  now: number,
): Circuit {
  const probing = circuit.probing && !begun.probe;
  if (sign.kind === 'gone') {
    const since = circuit.state === 'disabled' ? circuit.since : now;
    return {
      ...circuit,
      state: 'disabled',
      reason: sign.reason,
      since,
      nextTry: null,
      probing,
      failedAt: now,
    };
  }
  if (circuit.state === 'disabled') return { ...circuit, probing };
  if (sign.kind === 'works') {
    const tookAt = sign.took ? now : circuit.tookAt;
    const since = circuit.state === 'delivering' ? circuit.since : now;
    return {
      ...circuit,
      state: 'delivering',
      reason: null,
      since,
      nextTry: null,
      pauses: 0,
      probing,
      tookAt,
    };
  }
  if (circuit.state === 'away' && !begun.probe) return { ...circuit, failedAt: now };
  const pauses = circuit.pauses + 1;
  return {
    ...circuit,
    state: 'away',
    reason: sign.reason,
    since: circuit.state === 'away' ? circuit.since : now,
    nextTry: now + backoffMs(pauses, begun.jitter, begun.longestMs, sign.retryAfterMs),
    pauses,
    probing,
    failedAt: now,
  };
}

/**
 * The circuit after a look at what is noted for the sink by all dispatchers: another may have found it
 * gone, or alive again after it was away here; an operator may have enabled it.
 */
export function afterLook(
  circuit: Circuit,
  noted: { state: Circuit['state']; reason: string | null; since: number } | undefined,
  now: number,
): Circuit {
  if (noted === undefined) return circuit;
  if (noted.state === 'disabled' && circuit.state !== 'disabled')
    return { ...circuit, state: 'disabled', reason: noted.reason, since: noted.since, nextTry: null };
  if (noted.state !== 'disabled' && circuit.state === 'disabled')
    return { ...circuit, state: 'delivering', reason: null, since: now, nextTry: null, pauses: 0 };
  const isBack = noted.state === 'delivering' && circuit.state === 'away' && noted.since > circuit.failedAt;
  return isBack && !circuit.probing
    ? { ...circuit, nextTry: Math.min(circuit.nextTry ?? now, now) }
    : circuit;
}
