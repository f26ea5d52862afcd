import type { Day } from '../../../server/domain/dates.ts';
import { ApiError } from './errors.ts';
import { type AnalyticsRequest, isAbout } from './request.ts';

/** Limits on requests; tests change them. */
export interface QuotaOptions {
  /** Max requests in any 60 seconds, per site and per user. */
  perMinute: number;
  /** Max load in any ten minutes per site: the days read, times ten if rows are grouped or filtered by query or page. */
  load: number;
  /** Max inspections of pages per site, on a Pacific day and in any 60 seconds. */
  inspectionsPerDay: number;
  inspectionsPerMinute: number;
  /** Rejects with 429 and this `Retry-After` (seconds) instead of 403. */
  retryAfter: number | undefined;
}

const MINUTE = 60_000;
const TEN_MINUTES = 600_000;
const DEAR = 10;

/** Counts requests and their load in rolling windows. */
export class Quotas {
  readonly options: QuotaOptions = {
    perMinute: 1200,
    load: Number.POSITIVE_INFINITY,
    inspectionsPerDay: 2000,
    inspectionsPerMinute: 600,
    retryAfter: undefined,
  };
  readonly #spent = new Map<string, { at: number; cost: number }[]>();
  readonly #inspections = new Map<string, { day: Day; count: number }>();
  readonly #clock: () => number;

  /** @param clock milliseconds */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Throws `ApiError` above a limit. Rejected requests count too, as at the provider. */
  take(property: string, user: string, request: AnalyticsRequest, days: number): void {
    const { perMinute, load, retryAfter } = this.options;
    const isDear = isAbout(request, 'query') || isAbout(request, 'page');
    const sums = [
      this.#add(`requests of site ${property}`, 1, MINUTE),
      this.#add(`requests of user ${user}`, 1, MINUTE),
    ];
    if (Math.max(...sums) > perMinute) {
      if (retryAfter === undefined) throw quotaError(403, 'rateLimitExceeded', 'Rate Limit Exceeded');
      throw quotaError(429, 'rateLimitExceeded', 'Too many requests', { 'retry-after': String(retryAfter) });
    }
    if (this.#add(`load of site ${property}`, days * (isDear ? DEAR : 1), TEN_MINUTES) > load) {
      throw quotaError(403, 'quotaExceeded', 'Search Analytics load quota exceeded.');
    }
  }

  /** Throws `ApiError` above a limit of inspections. */
  takeInspection(property: string, day: Day): void {
    const { inspectionsPerDay, inspectionsPerMinute } = this.options;
    const ofDay = this.#inspections.get(property);
    const count = ofDay?.day === day ? ofDay.count + 1 : 1;
    this.#inspections.set(property, { day, count });
    if (count > inspectionsPerDay) throw inspectionQuotaError('per day');
    if (this.#add(`inspections of site ${property}`, 1, MINUTE) > inspectionsPerMinute) {
      throw inspectionQuotaError('per minute');
    }
  }

  reset(): void {
    this.#spent.clear();
    this.#inspections.clear();
  }

  #add(name: string, cost: number, span: number): number {
    const at = this.#clock();
    const recent = (this.#spent.get(name) ?? []).filter((each) => each.at > at - span);
    recent.push({ at, cost });
    this.#spent.set(name, recent);
    return recent.reduce((sum, each) => sum + each.cost, 0);
  }
}

function inspectionQuotaError(limit: string): ApiError {
  const message = `Quota exceeded for quota metric 'URL inspection requests' and limit 'URL inspection requests ${limit}'.`;
  return quotaError(429, 'rateLimitExceeded', message);
}

function quotaError(status: number, reason: string, message: string, headers = {}): ApiError {
  return new ApiError(status, reason, message, { domain: 'usageLimits', headers });
}
