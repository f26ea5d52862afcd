import { FastifyOtelInstrumentation } from '@fastify/otel';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { redactAddress } from '../api/plugins/redact.ts';
import { patternOf } from '../api/route.ts';
import { onceAMinute } from '../runtime/once-a-minute.ts';
import { MaskedExporter } from './masked-exporter.ts';

/** Traces of requests. */
export interface Tracing {
  /** Adds traces to a server, before its hooks and routes. */
  readonly add: (app: FastifyInstance) => Promise<void>;
  /** Sends pending spans. */
  readonly close: () => Promise<void>;
}

/** The part of a span that names a request. */
interface RequestSpan {
  updateName(name: string): unknown;
  setAttributes(attributes: Readonly<Record<string, string>>): unknown;
}

/**
 * Starts traces for the collector that the environment names (`OTEL_EXPORTER_OTLP_ENDPOINT` and the other variables of
 * OpenTelemetry). A request is a span with the route as its name, and its handler a span in it. Registers global state of
 * OpenTelemetry: call it once in a process.
 */
export function startTracing(): Tracing {
  let log: FastifyBaseLogger | undefined;
  const onFailure = onceAMinute((error: unknown) => {
    log?.warn({ err: error }, 'traces could not be sent to the collector');
  });
  const exporter = new MaskedExporter(new OTLPTraceExporter(), onFailure);
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': process.env['OTEL_SERVICE_NAME'] || 'ordinate' }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  provider.register();
  const instrumentation = new FastifyOtelInstrumentation({ instrumentHooks: false, requestHook: describe });
  instrumentation.setTracerProvider(provider);
  return {
    add: async (app) => {
      log = app.log;
      await app.register(instrumentation.plugin());
    },
    // A failed export must not change how the process ends.
    close: () => provider.shutdown().catch(onFailure),
  };
}

/** The plugin writes the whole URL as the path, with keys that were sent in it by mistake. */
function describe(span: RequestSpan, request: FastifyRequest): void {
  const [path = '', ...query] = request.url.split('?');
  const route = patternOf(request);
  span.updateName(`${request.method} ${route ?? 'none'}`);
  span.setAttributes({ 'url.path': redactAddress(path), ...(route && { 'http.route': route }) });
  if (query.length > 0) span.setAttributes({ 'url.query': redactAddress(query.join('?')) });
}
