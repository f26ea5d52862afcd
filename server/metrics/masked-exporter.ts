import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';
import { redact } from '../api/plugins/redact.ts';

type Done = Parameters<SpanExporter['export']>[1];

/** Exports spans with possible keys masked in all of their texts: messages of errors contain URLs. */
export class MaskedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #onFailure: (error: unknown) => void;

  /** @param onFailure called when spans could not be sent */
  constructor(exporter: SpanExporter, onFailure: (error: unknown) => void) {
    this.#exporter = exporter;
    this.#onFailure = onFailure;
  }

  export(spans: ReadableSpan[], done: Done): void {
    this.#exporter.export(spans.map(mask), (result) => {
      if (result.error !== undefined) this.#onFailure(result.error);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }
}

function mask(span: ReadableSpan): ReadableSpan {
  const { attributes, events, status } = span;
  const masked = {
    attributes: maskTexts(attributes),
    events: events.map((event) => ({ ...event, attributes: maskTexts(event.attributes ?? {}) })),
    status: maskTexts({ ...status }),
  };
  // The rest is read from the span itself.
  return Object.create(span, Object.getOwnPropertyDescriptors(masked)) as ReadableSpan;
}

function maskTexts<T extends object>(values: T): T {
  const masked = Object.entries(values).map(([name, value]): [string, unknown] => [
    name,
    typeof value === 'string' ? redact(value) : value,
  ]);
  return Object.fromEntries(masked) as T;
}
