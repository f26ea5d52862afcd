import { INDEX_FIELDS, type IndexState, type Inspection } from '../../domain/index-state.ts';
import { ProviderFailure } from '../failures.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Requests per day and per second of a property; the provider allows 2,000 a day and 600 a minute. */
export const INSPECTION_LIMITS = { perDay: 2000, perSecond: 10 };

/** Reads the response of `urlInspection.index.inspect`. Throws `ProviderFailure`. */
export function readInspection({ inspectionResult }: Fields): Inspection {
  const { indexStatusResult } = (inspectionResult ?? {}) as Fields;
  if (typeof indexStatusResult !== 'object' || indexStatusResult === null) {
    throw new ProviderFailure('broken', 'the response has no state of the page in the index', { passing: false });
  }
  const told = indexStatusResult as Fields;
  const state = Object.fromEntries(INDEX_FIELDS.map((field) => [field, readText(told, field)])) as IndexState;
  const crawled = readText(told, 'lastCrawlTime');
  if (crawled !== null && Number.isNaN(Date.parse(crawled))) throw wrong('lastCrawlTime that is not a time');
  return { state, lastCrawlTime: crawled === null ? null : new Date(crawled).toISOString() };
}

function readText(fields: Fields, name: string): string | null {
  const value = fields[name] ?? null;
  if (value === null || typeof value === 'string') return value;
  throw wrong(`${name} that is not a text`);
}

function wrong(what: string): ProviderFailure {
  return new ProviderFailure('broken', `the response has a ${what}`, { passing: false });
}
