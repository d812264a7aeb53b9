import type { Context, Span } from '@opentelemetry/api';
import type { SpanAttributes, Tracer } from '../ports/tracer.js';
import { ownTraces } from './sampler.js';

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}/;
const CLOSE_MS = 2000;

export interface TracerSettings {
  /** Receiver; without a path the traces go to /v1/traces. Undefined: what the environment of OpenTelemetry names. */
  url: string | undefined;
  /** Share of the traces that begin here, from 0 to 1. */
  sample: number;
  fleet: string;
  role: string;
  version: string;
}

/** What CommonJS exports, in a bundle too. */
const named = <T extends object>(loaded: T): T => ('default' in loaded ? (loaded.default as T) : loaded);

/** The address at which a receiver takes traces. */
export function tracesUrl(url: string): string {
  const parsed = new URL(url);
  if (parsed.pathname === '/') parsed.pathname = '/v1/traces';
  return parsed.href;
}

async function load() {
  const [api, sdk, otlp, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  return { api: named(api), sdk: named(sdk), otlp: named(otlp), resources: named(resources) };
}

type Loaded = Awaited<ReturnType<typeof load>>;

/** The provider of this process, registered for every library in it that writes spans. */
function provide({ sdk, otlp, resources }: Loaded, settings: TracerSettings) {
  const { url, sample, fleet, role, version } = settings;
  const exporter = new otlp.OTLPTraceExporter(url === undefined ? {} : { url: tracesUrl(url) });
  const provider = new sdk.NodeTracerProvider({
    resource: resources.defaultResource().merge(
      resources.resourceFromAttributes({
        'service.name': `sluice-${role}`,
        'service.namespace': fleet,
        'service.version': version,
      }),
    ),
    sampler: ownTraces(sdk, sample),
    spanProcessors: [new sdk.BatchSpanProcessor(exporter)],
  });
  provider.register();
  return provider;
}

/** Sends spans by OTLP over HTTP. A receiver that is away loses spans, and holds up nothing. */
export async function openTracer(settings: TracerSettings): Promise<Tracer> {
  const loaded = await load();
  const { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = loaded.api;
  const provider = provide(loaded, settings);
  const tracer = trace.getTracer('sluice', settings.version);
  const from = (parent: string | undefined, otherwise: Context): Context => {
    if (parent === undefined || !TRACEPARENT.test(parent)) return otherwise;
    return propagation.extract(ROOT_CONTEXT, { traceparent: parent });
  };
  const failed = (span: Span, message: string) => span.setStatus({ code: SpanStatusCode.ERROR, message });
  return {
    async span<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>, parent?: string) {
      const around = from(parent, context.active());
      const span = tracer.startSpan(name, { attributes }, around);
      try {
        return await context.with(trace.setSpan(around, span), work);
      } catch (error) {
        failed(span, (error as Error).message);
        throw error;
      } finally {
        span.end();
      }
    },
    within: (parent, work) => context.with(from(parent, context.active()), work),
    active() {
      const carrier: { traceparent?: string } = {};
      propagation.inject(context.active(), carrier);
      return carrier.traceparent;
    },
    delivered({ parent, from: startTime, to, attributes, failure }) {
      const span = tracer.startSpan(
        'sluice deliver',
        { attributes, startTime, kind: SpanKind.PRODUCER },
        from(parent, ROOT_CONTEXT),
      );
      if (failure !== undefined) failed(span, failure);
      span.end(to);
    },
    async close() {
      const late = new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref());
      await Promise.race([provider.shutdown().catch(() => {}), late]);
    },
  };
}
