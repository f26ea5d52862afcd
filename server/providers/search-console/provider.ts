import { ARCHIVES, DEFAULT_ARCHIVE } from '../../catalog/connections.ts';
import type { ListKind, ListPair } from '../../catalog/stored-lists.ts';
import { addDays } from '../../domain/dates.ts';
import { sumPositionOf } from '../../domain/metrics.ts';
import { SEARCH_TYPES } from '../../model/surfaces.ts';
import { readCredentials } from '../google/credentials.ts';
import { GOOGLE_ERRORS } from '../google/failures.ts';
import { GOOGLE_NOTE, GOOGLE_OPTIONS } from '../google/options.ts';
import { GOOGLE_PACING } from '../google/pacing.ts';
import type { ConnectionOption, Provider } from '../provider.ts';
import type { AnalyticsFilter } from './analytics-query.ts';
import { type AnalyticsRow, SearchAnalytics } from './search-analytics.ts';
import { findMissingStep } from './setup-steps.ts';

const SAMPLE_DAYS = 28;

/** How lists are grouped. */
const GROUPS = {
  pages: { dimensions: ['page'], aggregation: 'byPage' },
  queries: { dimensions: ['query'], aggregation: 'byProperty' },
  // What is filtered by page is counted by page.
  queriesOfPage: { dimensions: ['query'], aggregation: 'byPage' },
} as const;

export const ARCHIVE_OPTION: ConnectionOption = {
  name: 'archive',
  flags: '--archive <tables>',
  help: 'which of all queries and pages are stored by day: queries,pages (default), queries, pages or none',
  default: DEFAULT_ARCHIVE,
  read: readArchive,
};

/** The search engine's reporting API. */
export const SEARCH_CONSOLE: Provider = {
  kind: 'search-console',
  help: 'the reporting API',
  options: [...GOOGLE_OPTIONS, ARCHIVE_OPTION],
  note: GOOGLE_NOTE,
  advice: {
    'access-lost':
      'Give the identity of the credentials read access to exactly this property (sc-domain:… and https://…/ are different ones), or sign in again if the grant has expired.',
    'load-quota': 'Nothing is wrong with the connection: wait a quarter of an hour and test again.',
    'rate-limit': 'Nothing is wrong with the connection: wait a minute and test again.',
    'not-covered': 'Use a range that the provider has.',
    misconfigured: 'Correct what the reason says: the credentials file, or the API, which must be enabled.',
    broken: 'Check that this machine can reach the address of the provider, and test again.',
  },
  errors: GOOGLE_ERRORS,
  pacing: GOOGLE_PACING,
  lists: {
    source: 'gsc',
    help: "the search engine's reporting API",
    types: SEARCH_TYPES,
    // Contract, 4.8.
    maxRows: { pages: 25_000, queries: 50_000 },
    isWarehouse: false,
  },
  checkCredentials: readCredentials,
  connect(connection, context) {
    const client = new SearchAnalytics(connection, context);
    return {
      async test(property, to, run) {
        const range = { from: addDays(to, 1 - SAMPLE_DAYS), to };
        const query = { property, ...range, ...GROUPS.pages, dataState: 'all' } as const;
        const { rows } = await client.page(query, { start: 0, limit: 1 }, run);
        const end = rows.length > 0 ? '.' : `, which has no data in the last ${SAMPLE_DAYS} days.`;
        return { found: `The reporting API can read ${property}${end}` };
      },
      findMissingStep: (property, failure) => findMissingStep(context, connection, property, failure),
      async fetchList({ kind, property, range, country, type, pair, maxRows: max }, take, run) {
        const filters = filtersOf(kind, country, pair);
        const group = GROUPS[kind === 'queries' && pair !== null ? 'queriesOfPage' : kind];
        const query = { property, ...range, ...group, filters, dataState: 'all', type } as const;
        const takeAll = (found: readonly AnalyticsRow[]) =>
          take(found.map((row) => [row.keys[0]!, row.clicks, row.impressions, sumPositionOf(row)]));
        const { rows, truncated } = await client.read(query, { max, take: takeAll }, run);
        return { rows, truncated, complete: true };
      },
    };
  },
};

function filtersOf(kind: ListKind, country: string | null, pair: ListPair | null): AnalyticsFilter[] {
  const values = [
    ['country', country],
    [kind === 'queries' ? 'page' : 'query', pair?.of ?? null],
    ['device', pair?.device ?? null],
  ] as const;
  return values.flatMap(([dimension, expression]) =>
    expression === null ? [] : [{ dimension, operator: 'equals', expression }],
  );
}

/** The tables of an archive, in any order. */
function readArchive(text: string): string {
  const named = text.split(',').map((name) => name.trim());
  const found = ARCHIVES.find((archive) => archive === named.toSorted((a, b) => b.localeCompare(a)).join(','));
  if (found === undefined) throw new RangeError(`It must be one of: ${ARCHIVES.join('; ')}.`);
  return found;
}
