import { METRIC_NAMES, type MetricName } from '../domain/comparison.ts';
import { invalidRequest } from '../domain/errors.ts';
import { isKnown, type Measures, NOTHING } from '../domain/metrics.ts';
import { CHANGE_KINDS, type ChangeKind, changeKindOf, gainOf } from '../domain/movers.ts';
import { SortKeys } from '../domain/sort-steps.ts';
import { listJson } from '../formats/json.ts';
import type { RowsAnswer } from '../formats/rows.ts';
import { blockOf, type ListRow } from '../lists/blocks.ts';
import { keywordsJson, keywordsPreset, keywordsTable } from '../presets/keywords.ts';
import { type ListResult, listTable } from '../presets/lists.ts';
import { pagesPreset, queriesPreset } from '../presets/pages-and-queries.ts';
import { choice, paging, readParameters } from '../presets/parameters.ts';
import { askPreset, type PresetRequest, type PresetSources } from '../presets/preset.ts';
import { inOneBatch, inTurns } from '../runtime/turns.ts';

const KINDS = ['queries', 'pages', 'keywords'] as const;
const parameters = {
  kind: choice('MoverKind', KINDS, 'queries', 'What rows are.'),
  change: choice('ChangeKind', CHANGE_KINDS, 'up', 'How rows have changed.'),
  by: choice('MetricName', METRIC_NAMES, 'clicks', 'What must have changed.'),
  ...paging(50, 5000),
};

interface Asked {
  /** Those of the list, with a comparison, and `kind`, `change`, `by`, `limit` and `offset`. */
  readonly sent: Readonly<Record<string, string>>;
  readonly request: PresetRequest;
}

/** Rows that changed in one way, as JSON or as flat rows. */
interface Movers {
  readonly json: () => Buffer;
  readonly rows: () => RowsAnswer;
}

/**
 * The rows of a list by how a metric changed from the compared range, most first: better (`up`), worse (`down`), only in
 * this range (`new`) or only in the other (`gone`). The filter counts in both ranges. Throws `invalid_request` without a comparison.
 */
export async function readMovers(sources: PresetSources, asked: Asked): Promise<Buffer> {
  return (await findMovers(sources, asked)).json();
}

/** The same as flat rows with the columns of the list: all of them, whatever `limit` and `offset` say. */
export async function readMoverRows(sources: PresetSources, asked: Asked): Promise<RowsAnswer> {
  const { head, ...rows } = (await findMovers(sources, asked, { limit: Number.MAX_SAFE_INTEGER, offset: 0 })).rows();
  return { ...rows, head: { ...head, name: `${head.name}-${asked.sent['change'] ?? 'up'}` } };
}

async function findMovers(
  sources: PresetSources,
  { sent, request }: Asked,
  part?: Pick<Page, 'limit' | 'offset'>,
): Promise<Movers> {
  const { kind, change, by, limit, offset } = readParameters(parameters, sent);
  if (sent['compare'] === undefined) throw invalidRequest('compare is missing: with which days are rows compared?');
  const { limit: _limit, offset: _offset, sort: _sort, kind: _kind, change: _change, by: _by, ...asked } = sent;
  const page = { change, by, limit, offset, ...part };
  return kind === 'keywords'
    ? moversOfKeywords(sources, asked, request, page)
    : moversOfList(sources, { report: kind === 'pages' ? pagesPreset : queriesPreset, kind, asked, request }, page);
}

interface Page {
  readonly change: ChangeKind;
  readonly by: MetricName;
  readonly limit: number;
  readonly offset: number;
}

interface OfList {
  readonly report: typeof queriesPreset;
  readonly kind: 'pages' | 'queries';
  readonly asked: Readonly<Record<string, string>>;
  readonly request: PresetRequest;
}

async function moversOfList(sources: PresetSources, of: OfList, page: Page): Promise<Movers> {
  const { kind, asked } = of;
  const { result, rows } = await rowsOf(sources, of, asked);
  const { range, ...head } = result.head;
  let found = rows;
  let isCut = isTruncated(head.source);
  if (page.change === 'gone') {
    const { from, to } = range.comparison!;
    const { compare: _compare, period: _period, ...others } = asked;
    const base = await rowsOf(sources, of, { ...others, from, to });
    const here = new Set(rows.map(({ text }) => text));
    found = base.rows.filter(({ text }) => !here.has(text)).map((row) => ({ text: row.text, ...NOTHING, base: row }));
  } else {
    isCut = isTruncated(head.source.comparison!);
  }
  const picked = await pick(found, (row) => [row, row.base ?? NOTHING], page);
  const shown = { ...head, range, paging: { total: picked.total, limit: page.limit, offset: page.offset } };
  return {
    json: () =>
      listJson({
        // A row that the provider has cut off is not new, and not gone.
        head: { ...shown, isCut: isCut && (page.change === 'new' || page.change === 'gone') },
        kind,
        json: picked.rows.length === 0 ? [] : [blockOf(result.rendering, picked.rows).json.subarray(0, -1)],
      }),
    rows: () => listTable({ ...result, head: shown, rows: inOneBatch(picked.rows) }),
  };
}

function isTruncated({ truncated, capped }: { truncated: boolean; capped: boolean }): boolean {
  return truncated || capped;
}

async function rowsOf(
  sources: PresetSources,
  { report, request }: OfList,
  asked: Readonly<Record<string, string>>,
): Promise<{ result: ListResult; rows: ListRow[] }> {
  const result = await askPreset(report, sources, request, { ...asked, format: 'ndjson' });
  const rows: ListRow[] = [];
  for await (const part of result.rows ?? []) for (const row of part) rows.push(row);
  return { result, rows };
}

async function moversOfKeywords(
  sources: PresetSources,
  asked: Readonly<Record<string, string>>,
  request: PresetRequest,
  page: Page,
): Promise<Movers> {
  const result = await askPreset(keywordsPreset, sources, request, { ...asked, format: 'ndjson' });
  const { keywords, totals, other } = result.rows;
  const base = other!.totals;
  const known = keywords.filter((keyword) => isKnown(totals.of(keyword)) && isKnown(base.of(keyword)));
  const picked = await pick(known, (keyword) => [totals.of(keyword), base.of(keyword)], page);
  const head = { ...result.head, paging: { total: picked.total, limit: page.limit, offset: page.offset } };
  const withoutCut = { ...head, isCut: false };
  const shown = { ...result, rows: result.rows.of(picked.rows) };
  return {
    json: () => keywordsJson({ ...shown, head: withoutCut }),
    rows: () => keywordsTable({ ...shown, head }),
  };
}

/** Rows that changed in one way, those that changed most first. */
async function pick<Row>(
  rows: readonly Row[],
  measuresOf: (row: Row) => readonly [now: Measures, base: Measures],
  { change, by, limit, offset }: Page,
): Promise<{ total: number; rows: readonly Row[] }> {
  return inTurns(
    (function* () {
      const keys = new SortKeys(rows.length);
      const indexes = new Uint32Array(rows.length);
      let total = 0;
      for (let index = 0; index < rows.length; index++) {
        const [now, base] = measuresOf(rows[index]!);
        if (changeKindOf(by, now, base) === change) {
          keys.set(index, -Math.abs(gainOf(by, now, base)));
          indexes[total++] = index;
        }
        if (index % 500 === 0) yield;
      }
      const found = indexes.subarray(0, total);
      yield* keys.sort(found);
      return { total, rows: Array.from(found.subarray(offset, offset + limit), (index) => rows[index]!) };
    })(),
  );
}
