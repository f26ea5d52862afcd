// Answers as flat rows, by the rules of consumers.md: names of JSON, objects flattened by `_`, sums of positions beside them.
import type { Row } from '../world.ts';
import { type Sum, sumsBehind } from './oracle-terms.ts';

const METRICS = ['clicks', 'impressions', 'ctr', 'position'];
const of = (prefix: string): string[] => METRICS.map((name) => `${prefix}_${name}`);
const CHANGES = METRICS.flatMap((name) => [`change_${name}`, `changeRatio_${name}`]);
const COMPARED = [...of('comparison'), ...CHANGES, ...of('unsafe')];
const ABOUT = ['id', 'domain', 'property', 'country', 'language', 'syncStatus', 'lastSyncedAt'];
const PROJECT = [...ABOUT, 'syncedThrough', 'keywordHistoryFrom', 'historyBackfilling', 'trackedKeywords'];
const QUALITY = [
  'finalThrough',
  'daysExpected',
  'daysStored',
  'daysProvisional',
  'daysCutOff',
  'missing',
  'anonymousClicksShare',
];

interface Shape {
  /** Columns before the metrics and between them and the comparison; what is not sent is left out. */
  readonly key: readonly string[];
  readonly metrics?: false;
  readonly more?: readonly string[];
  readonly end?: readonly string[];
  readonly rows: (body: Body) => Row[];
}
/** The rows of an answer, by their name. */
type Body = Readonly<Record<string, Row[]>> & { readonly brand?: Readonly<Record<string, Row>> | null };

const daily =
  (keys: readonly string[]) =>
  (rows: Row[]): Row[] =>
    rows.flatMap((row) => ((row['daily'] ?? []) as Row[]).map((day) => joined(row, keys, day)));

function joined(row: Row, keys: readonly string[], day: Row): Row {
  const full = { ...Object.fromEntries(keys.map((key) => [key, row[key]])), ...day };
  sumsBehind.set(full, sumsBehind.get(day)!);
  return full;
}

function named(row: Row, more: Row): Row {
  const full = { ...row, ...more };
  sumsBehind.set(full, sumsBehind.get(row)!);
  return full;
}

const SHAPES: Readonly<Record<string, Shape>> = {
  hours: { key: ['hour'], rows: ({ hours = [] }) => hours },
  site: { key: ['date', 'days'], rows: ({ daily: days = [] }) => days },
  keywords: {
    key: ['id', 'query', 'source', 'trackedSince', 'intent', 'groupIds'],
    rows: ({ keywords = [] }) => keywords.map((row: Row) => named(row, row['metrics'] as Row)),
  },
  'keywords daily': {
    key: ['id', 'query', 'date', 'days'],
    rows: ({ keywords = [] }) => daily(['id', 'query'])(keywords),
  },
  pages: { key: ['url'], rows: ({ pages = [] }) => pages },
  queries: { key: ['query'], more: ['branded', 'trackedKeywordId'], rows: ({ queries = [] }) => queries },
  breakdowns: {
    key: ['kind', 'value'],
    rows: ({ countries = [], devices = [], appearances = [], brand }) => [
      ...countries.map((row: Row) => named(row, { kind: 'country', value: row['country'] })),
      ...devices.map((row: Row) => named(row, { kind: 'device', value: row['device'] })),
      ...appearances.map((row: Row) => named(row, { kind: 'appearance', value: row['appearance'] })),
      ...Object.entries(brand ?? {}).map(([value, row]) => named(row, { kind: 'segment', value })),
    ],
  },
  surfaces: {
    key: ['engine', 'type', 'grain', 'firstDay', 'lastDay', 'provisionalAfter'],
    end: ['aiImpressions', 'citations', 'stale'],
    rows: ({ surfaces = [] }) => surfaces,
  },
  portfolio: {
    key: [...PROJECT, 'range_from', 'range_to', 'range_provisionalAfter'],
    end: ['error_code', 'error_message'],
    rows: ({ projects = [] }) => projects.map(portfolioRow),
  },
  'portfolio daily': {
    key: ['id', 'domain', 'date', 'days'],
    rows: ({ projects = [] }) => daily(['id', 'domain'])(projects),
  },
  projects: { key: PROJECT, metrics: false, rows: ({ projects = [] }) => projects },
  alerts: {
    key: ['id', 'type', 'kind', 'severity', 'title', 'body', 'date', 'keywordId', 'url', 'createdAt', 'resolvedAt'],
    metrics: false,
    rows: ({ alerts = [] }) => alerts,
  },
  notes: {
    key: [
      ...['id', 'scope', 'date', 'endDate', 'category', 'text', 'clientVisible', 'author', 'group_id', 'group_name'],
      ...['keyword_id', 'keyword_query', 'page', 'createdAt', 'updatedAt'],
    ],
    metrics: false,
    rows: ({ notes = [] }) =>
      notes.map(({ group, keyword, ...row }: Row) => ({
        ...row,
        group_id: (group as Row | null)?.['id'],
        group_name: (group as Row | null)?.['name'],
        keyword_id: (keyword as Row | null)?.['id'],
        keyword_query: (keyword as Row | null)?.['query'],
      })),
  },
};

function portfolioRow({ range, totals, quality, error, ...row }: Row): Row {
  const flat = (prefix: string, values: unknown): Row =>
    Object.fromEntries(Object.entries((values ?? {}) as Row).map(([name, value]) => [`${prefix}_${name}`, value]));
  const { comparison, ...days } = (range ?? {}) as Row;
  const { queryCoverage, missing, events: _events, ...known } = (quality ?? {}) as Row;
  const full = {
    ...row,
    ...flat('range', days),
    ...flat('range_comparison', comparison),
    ...((totals ?? {}) as Row),
    ...(quality ? { ...flat('quality', known), quality_missing: JSON.stringify(missing) } : {}),
    ...flat('quality_queryCoverage', queryCoverage),
    ...flat('error', error),
  };
  if (totals) sumsBehind.set(full, sumsBehind.get(totals)!);
  return full;
}

const plain = ({ top, bottom }: Sum): number => Number(top / bottom) + Number(top % bottom) / Number(bottom);

/** The columns of an answer with these parameters, and its rows. `sum_position` columns are those of exact formats. */
export function flatRows(endpoint: string, sent: URLSearchParams, body: Body): { columns: string[]; rows: Row[] } {
  const isDaily = ['1', 'true'].includes(sent.get('daily') ?? '') && endpoint !== 'site';
  const name = isDaily ? `${endpoint} daily` : endpoint;
  const { key, metrics = true, more = [], end = [], rows } = SHAPES[name]!;
  const isCompared = sent.has('compare');
  const hasDays = (sent.get('interval') ?? 'day') !== 'day';
  const isRated = name === 'portfolio' && ['1', 'true'].includes(sent.get('quality') ?? '');
  const columns = [
    ...key.filter((one) => one !== 'days' || hasDays),
    ...(name === 'portfolio' && isCompared ? ['range_comparison_from', 'range_comparison_to'] : []),
    ...(metrics ? METRICS : []),
    ...more,
    ...(isCompared ? [...COMPARED, 'comparison_sum_position'] : []),
  ];
  const sums = metrics ? ['sum_position'] : [];
  const rated = isRated
    ? [
        ...QUALITY.map((one) => `quality_${one}`),
        'quality_queryCoverage_clicks',
        'quality_queryCoverage_impressions',
        'quality_reconciledAt',
      ]
    : [];
  const all = name === 'portfolio' ? [...columns, ...sums, ...rated, ...end] : [...columns, ...end, ...sums];
  return {
    columns: all,
    rows: rows(body).map((row) => {
      const { comparison, change, unsafe } = row as Record<string, Row | null>;
      const { now = null, base = null } = sumsBehind.get(row) ?? {};
      const full: Row = {
        ...row,
        ...Object.fromEntries(
          METRICS.flatMap((metric) => {
            const changed = change?.[metric] as Row | undefined;
            return [
              [`comparison_${metric}`, comparison?.[metric]],
              [`change_${metric}`, changed?.['difference']],
              [`changeRatio_${metric}`, changed?.['ratio']],
              // A project that is refused has no numbers.
              [`unsafe_${metric}`, unsafe?.[metric] ?? ('error_code' in row ? null : [])],
            ];
          }),
        ),
        sum_position: now && plain(now),
        comparison_sum_position: base && plain(base),
      };
      return Object.fromEntries(all.map((column) => [column, full[column] ?? null]));
    }),
  };
}
