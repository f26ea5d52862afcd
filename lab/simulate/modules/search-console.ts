import { ApiError } from '../../../cli/demo/provider/errors.ts';
import { readRequest } from '../../../cli/demo/provider/request.ts';
import type { Site } from '../../../cli/demo/provider/site.ts';
import type { Random } from '../../../test/random.ts';
import type { Host } from '../host.ts';
import type { Latency } from '../simulation.ts';

/** The search engine: its properties, and how it fails. */
export interface SearchEngine {
  readonly sites: ReadonlyMap<string, Pick<Site, 'answer'>>;
  readonly random: Random;
  /** The share of requests that fail. */
  failures: number;
  readonly latency: Latency;
  /** Properties that never answer. */
  readonly silent: Set<string>;
  /** Requests whose body has this text fail, most of the time. */
  outage: string | undefined;
  /** Called when a request arrives, with its property and body. */
  onRequest: (property: string, body: unknown, process: Host) => void;
  onAnswered: (process: Host) => void;
}

interface Options {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
}

const FAILURES = [
  () => new ApiError(503, 'backendError', 'The service is currently unavailable.'),
  () => new ApiError(500, 'backendError', 'Internal error encountered.'),
  () => new ApiError(429, 'rateLimitExceeded', 'Too many requests', { domain: 'usageLimits' }),
  () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }),
];

/** The packages of the search engine's API, answered by its model. */
export function searchConsoleOf(process: Host, engine: SearchEngine): Readonly<Record<string, unknown>> {
  const { simulation } = process;
  const answer = (property: string, body: unknown): object => {
    const isOut =
      engine.outage !== undefined && JSON.stringify(body).includes(engine.outage) && engine.random.chance(0.9);
    if (isOut) throw toLibraryError(FAILURES[0]!());
    if (simulation.decide('failure of the provider', engine.random, engine.failures))
      throw toLibraryError(engine.random.pick(FAILURES)());
    // The model answers rows with equal clicks in any order.
    const { random } = Math;
    Math.random = () => engine.random.next();
    try {
      const { rows, metadata } = engine.sites.get(property)!.answer(readRequest(body), simulation.now);
      const parsed = rows.map((row) => JSON.parse(row) as unknown);
      return { ...(parsed.length > 0 ? { rows: parsed } : {}), ...(metadata === undefined ? {} : { metadata }) };
    } finally {
      Math.random = random;
    }
  };
  const query = async (
    { siteUrl, requestBody }: { siteUrl: string; requestBody: unknown },
    { signal, timeout = 20_000 }: Options,
  ) => {
    engine.onRequest(siteUrl, requestBody, process);
    const isSilent =
      engine.silent.has(siteUrl) || simulation.decide('silence of the provider', engine.random, engine.failures / 4);
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const late = simulation.schedule(process, timeout, 'timeout of the provider', () =>
      reject(Object.assign(new Error('network timeout'), { code: 'ETIMEDOUT' })),
    );
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    const answered = isSilent
      ? ended
      : simulation.operation(process, `provider ${siteUrl}`, () => answer(siteUrl, requestBody), engine.latency);
    try {
      return { data: await Promise.race([answered, ended]) };
    } finally {
      late.isCancelled = true;
      engine.onAnswered(process);
    }
  };
  class Gaxios {
    readonly interceptors = { request: { add: () => {} }, response: { add: () => {} } };
  }
  class GoogleAuth {
    getClient(): Promise<unknown> {
      return Promise.resolve({ credentials: {}, getRequestHeaders: () => Promise.resolve(new Headers()) });
    }
  }
  return {
    '@googleapis/searchconsole': { searchconsole: () => ({ searchanalytics: { query } }) },
    'google-auth-library': { gaxios: { Gaxios }, GoogleAuth },
  };
}

function toLibraryError(error: Error): Error {
  if (!(error instanceof ApiError)) return error;
  return Object.assign(error, { response: { status: error.status, data: error.body, headers: new Headers() } });
}
