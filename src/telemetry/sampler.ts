import type { Sampler, SamplingResult } from '@opentelemetry/sdk-trace-node';

/** Start of the names of spans with which a trace may begin. */
export const OWN = 'sluice ';

type Sampling = typeof import('@opentelemetry/sdk-trace-node');

/**
 * Keeps a share of the traces that begin here. What BullMQ does of its own accord, such as renewing locks and
 * looking for stalled jobs, is of no trace, and begins none.
 */
export function ownTraces(
  { SamplingDecision, TraceIdRatioBasedSampler, ParentBasedSampler }: Sampling,
  share: number,
): Sampler {
  const shares = new TraceIdRatioBasedSampler(share);
  const none: SamplingResult = { decision: SamplingDecision.NOT_RECORD };
  const root: Sampler = {
    shouldSample(context, traceId, name) {
      return name.startsWith(OWN) ? shares.shouldSample(context, traceId) : none;
    },
    toString: () => `OwnTraces{${share}}`,
  };
  return new ParentBasedSampler({ root });
}
