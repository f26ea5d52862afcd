import { Counter, Histogram, type Registry } from 'prom-client';
import { formatOfType } from '../api/negotiation.ts';
import { INCOMPLETE } from '../api/plugins/deadline.ts';
import { unavailableReason } from '../api/plugins/errors.ts';
import type { Answered } from '../api/plugins/log.ts';
import { patternOf } from '../api/route.ts';
import { UNAVAILABLE_REASONS } from '../domain/errors.ts';
import { RESOURCE_FAILURES } from '../domain/failures.ts';

/** In seconds. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 75];
const STAGE_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Counts requests when their responses have ended, at the same moment as the log. Labels are route patterns, never
 * URLs; `none` stands for URLs without a route.
 */
export class RequestMetrics {
  readonly #requests: Counter<'route' | 'method' | 'status' | 'format'>;
  readonly #times: Histogram<'route'>;
  readonly #stages: Histogram<'route' | 'stage'>;
  readonly #unavailable: Counter<'reason'>;
  readonly #unfinished: Counter<'cause'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'ordinate_http_requests_total',
      help: 'Requests whose response has ended. Status `none`: the client left before it began.',
      labelNames: ['route', 'method', 'status', 'format'],
      registers,
    });
    this.#times = new Histogram({
      name: 'ordinate_http_request_seconds',
      help: 'Time from the arrival of a request to the end of its response.',
      labelNames: ['route'],
      buckets: REQUEST_BUCKETS,
      registers,
    });
    this.#stages = new Histogram({
      name: 'ordinate_stage_seconds',
      help: 'Time of the stages of requests: parse, plan, run, format.',
      labelNames: ['route', 'stage'],
      buckets: STAGE_BUCKETS,
      registers,
    });
    this.#unavailable = new Counter({
      name: 'ordinate_http_unavailable_total',
      help: 'Responses with status 503, by reason.',
      labelNames: ['reason'],
      registers,
    });
    // Starts at 0, so that the first event is an increase.
    for (const reason of [...UNAVAILABLE_REASONS, ...RESOURCE_FAILURES]) this.#unavailable.inc({ reason }, 0);
    this.#unfinished = new Counter({
      name: 'ordinate_http_unfinished_total',
      help: 'Responses that ended before they were complete.',
      labelNames: ['cause'],
      registers,
    });
    for (const cause of INCOMPLETE) this.#unfinished.inc({ cause }, 0);
  }

  /** Counts a request. */
  answered({ request, reply, ms, isComplete }: Answered): void {
    const route = patternOf(request) ?? 'none';
    const method = METHODS.has(request.method) ? request.method : 'other';
    const { raw } = reply;
    const status = raw.headersSent ? raw.statusCode : 'none';
    const format = formatOfType(reply.getHeader('content-type'));
    this.#requests.inc({ route, method, status, format });
    this.#times.observe({ route }, ms / 1000);
    for (const stage of request.stages?.ended ?? []) {
      this.#stages.observe({ route, stage: stage.name }, stage.ms / 1000);
    }
    const reason = status === 503 ? (unavailableReason(request) ?? 'other') : undefined;
    if (reason !== undefined) this.#unavailable.inc({ reason });
    if (!isComplete) this.#unfinished.inc({ cause: request.deadline?.cut ?? 'client gone' });
  }
}
