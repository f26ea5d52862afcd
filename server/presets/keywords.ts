import { Type } from 'typebox';
import { groupExists, type TrackedKeyword, type TrackedKeywords } from '../catalog/keywords.ts';
import { countDays } from '../domain/dates.ts';
import { invalidRequest, notFound } from '../domain/errors.ts';
import { isoInstant } from '../domain/instants.ts';
import { INTENTS } from '../domain/intent.ts';
import { comparedKeywordRange, keywordRange } from '../domain/project-ranges.ts';
import { SOURCES } from '../domain/rules.ts';
import { openRows, RowBytes } from '../formats/json.ts';
import type { RowsAnswer } from '../formats/rows.ts';
import { DAYS, dimension, MEASURED, type SetColumn, table } from '../formats/table.ts';
import type { DaySet } from '../query/keyword-days.ts';
import { askTracked, type KeywordSet, planTracked, type TrackedQuery } from '../query/tracked.ts';
import { reportExternalBytes } from '../runtime/external-memory.ts';
import { Piece } from '../runtime/text-bytes.ts';
import * as parameter from './parameters.ts';
import { type PresetRequest, type PresetSources, projectReference, trackedPreset } from './preset.ts';
import * as schema from './schemas.ts';

const parameters = {
  ...parameter.rangeParameters,
  device: parameter.device,
  daily: parameter.flag('Adds the days of each keyword.'),
  interval: parameter.interval,
  compare: parameter.compare,
  quality: parameter.quality,
  group: parameter.group,
  ...parameter.paging(1000, 5000),
  ...parameter.selectionParameters('keywords'),
  ...parameter.formatParameters,
};

interface KeywordsParameters extends TrackedQuery {
  /** Whether the range was cut to the keyword history of the workspace. */
  readonly clamped: boolean;
  /** Id of a group or folder; null for all keywords. */
  readonly group: string | null;
}

/** What a keyword is besides its metrics. */
const about = {
  id: schema.shortId,
  query: Type.String(),
  source: schema.openWords(SOURCES),
  trackedSince: schema.instant,
  intent: schema.openWords(INTENTS, 'Estimated from the query text.'),
  groupIds: Type.Array(schema.shortId, { description: 'Manual groups only.' }),
};
const aboutKeyword = Type.Object(about);

const answer = schema.object('KeywordsAnswer', {
  project: schema.project,
  range: schema.range,
  quality: schema.quality,
  paging: schema.paging,
  keywords: Type.Array(
    Type.Object(
      {
        ...about,
        metrics: schema.metrics,
        ...schema.comparedOrNull('Null if a day of either range is unknown.'),
        daily: Type.Optional(
          Type.Array(schema.dayMetrics, {
            description:
              'Only when daily is requested: the days for which the keyword has stored data, in order; with interval, weeks or months.',
          }),
        ),
      },
      { title: 'Keyword', additionalProperties: false },
    ),
  ),
});

/** Tracked keywords with totals over a range, and their days. */
export const keywordsPreset = trackedPreset({
  path: '/projects/:id/keywords',
  operation: 'listKeywords',
  tag: 'Keywords',
  summary: 'Tracked keywords with totals over a range',
  description: "By query text. The range is limited to the plan's keyword history.",
  answer,
  content: 'The keywords.',
  examples: {
    200: '/projects/Proj1/keywords?period=7d&group=Fold1&daily=1',
    400: '/projects/Proj1/keywords?limit=5001',
    404: '/projects/Proj1/keywords?group=Nope1',
  },
  parameters,
  parse: (sent, project, now): KeywordsParameters => {
    const { from, to, period, compare, limit, daily, ...values } = parameter.readParameters(parameters, sent);
    const { device, interval, quality, group = null, filter, sort, offset } = values;
    if (interval !== 'day' && !daily) throw invalidRequest(`interval=${interval} adds up days; send daily=1 with it.`);
    const range = keywordRange({ from, to, period }, project, now);
    const comparison = comparedKeywordRange(range, compare, project, now);
    const page = { filter, sort, limit: parameter.rowLimit(sent, limit), offset };
    return { ...range, device, interval: daily ? interval : null, comparison, quality, group, ...page };
  },
  checkIds: async (sent, project, catalog) => {
    const { group } = sent as { group?: unknown };
    if (typeof group === 'string' && group !== '' && !(await groupExists(catalog, project.id, group))) {
      throw unknownGroup();
    }
  },
  plan: async (query, read) => {
    const group = read.tracked.groups.find(({ id }) => id === query.group);
    if (query.group !== null && group === undefined) throw unknownGroup();
    return { clamped: query.clamped, ...(await planTracked(read, query, group)) };
  },
  run: readKeywords,
  followed: (project) => project,
  json: keywordsJson,
  // With days, answers are too long to cache.
  isStreamed: ({ interval }) => interval !== null,
  jsonChunks: dailyKeywordsJson,
  rows: keywordsTable,
  isLong: ({ interval, limit, from, to }) =>
    interval !== null && (limit === null || limit * countDays(from, to) > MAX_DAYS_OF_SHORT_RESULT),
});

/** Up to this many days a result takes about 3 MB. */
const MAX_DAYS_OF_SHORT_RESULT = 30_000;

type KeywordsPlan = Pick<KeywordsParameters, 'clamped'> & Awaited<ReturnType<typeof planTracked>>;

async function readKeywords(
  { clamped, ...plan }: KeywordsPlan,
  sources: PresetSources,
  { signal }: Pick<PresetRequest, 'signal'>,
) {
  const { from, to, device, comparison, limit, offset } = plan.query;
  const { project, tracked } = plan;
  const { total, rows, series, ...quality } = await askTracked(plan, sources, signal);
  const compared = comparison && {
    comparison: { from: comparison.from, to: comparison.to, clamped: comparison.clamped },
  };
  return {
    /** Metadata before the keywords. */
    head: {
      project: projectReference(project),
      range: { from, to, device, clamped, provisionalAfter: project.provisionalAfter, ...compared },
      ...quality,
      paging: { total, limit: limit ?? total, offset },
    },
    tracked,
    rows,
    /** The days, or longer intervals, of the rows; undefined without `daily`. */
    daily: series,
  };
}

export type KeywordsResult = Awaited<ReturnType<typeof readKeywords>>;

function unknownGroup(): Error {
  return notFound('group: the project has no such group or folder.');
}

function shownKeyword(
  { id, query, source, trackedSince, intent }: TrackedKeyword,
  { groupsOf }: TrackedKeywords['membership'],
) {
  return { id, query, source, trackedSince: isoInstant(trackedSince), intent, groupIds: [...(groupsOf.get(id) ?? [])] };
}

/** Bytes per chunk. */
const CHUNK = 64 * 1024;
/** What most keywords need at most as JSON, in bytes. */
const BYTES = { plain: 256, compared: 1024 };
/** Closes the metrics of a keyword. */
const CLOSE = new Piece('}');

/** Keywords with their totals. */
export function keywordsJson({ head, tracked, rows }: KeywordsResult): Buffer {
  const bytes = new RowBytes((rows.other ? BYTES.compared : BYTES.plain) * (rows.length + 1));
  const startOf = startsOf(tracked);
  bytes.text(openRows(head, 'keywords'));
  for (let row = 0; row < rows.length; row++) {
    if (row > 0) bytes.char(',');
    bytes.row(startOf(rows.keywords[row]!), rows, row, CLOSE);
    bytes.char('}');
  }
  bytes.text(']}');
  const json = bytes.all();
  reportExternalBytes(json.length);
  return json;
}

/** Keywords with their totals and days, in chunks. */
export async function* dailyKeywordsJson(result: KeywordsResult): AsyncGenerator<Buffer, void> {
  const { head, daily, tracked, rows } = result;
  const { buckets, dayCounts, sets } = daily!;
  const bytes = new RowBytes();
  const startOf = startsOf(tracked);
  const dayStarts = buckets.map(({ from }, at) => {
    const count = dayCounts === undefined ? '' : `"days":${dayCounts[at]},`;
    return new Piece(`{"date":"${from}",${count}`);
  });
  bytes.text(openRows(head, 'keywords'));
  let row = 0;
  for await (const days of sets) {
    for (let keyword = 0; keyword < days.keywords.length; keyword++, row++) {
      if (row > 0) bytes.char(',');
      bytes.row(startOf(rows.keywords[row]!), rows, row, CLOSE);
      bytes.text(',"daily":[');
      const [first, end] = [days.starts[keyword]!, days.starts[keyword + 1]!];
      for (let day = first; day < end; day++) {
        if (day > first) bytes.char(',');
        bytes.row(dayStarts[days.part(day)]!, days, day);
        bytes.char('}');
      }
      bytes.text(']}');
      if (bytes.length >= CHUNK) yield bytes.take();
    }
  }
  bytes.text(']}');
  yield bytes.take();
}

/** The JSON of each keyword before its metrics, for as long as the tracked keywords are cached. */
const starts = new WeakMap<TrackedKeywords['keywords'], (string | undefined)[]>();

function startsOf({ keywords, membership }: TrackedKeywords): (keyword: TrackedKeyword) => string {
  const known = starts.get(keywords) ?? [];
  starts.set(keywords, known);
  const make = (keyword: TrackedKeyword): string => {
    return `${JSON.stringify(shownKeyword(keyword, membership)).slice(0, -1)},"metrics":{`;
  };
  return (keyword) => (known[keyword.index] ??= make(keyword));
}

/** Keywords as flat rows: one per keyword and stored day if the result has days, else one per keyword. */
export function keywordsTable({ daily, head, rows, tracked }: KeywordsResult): RowsAnswer {
  const { project, range, quality, paging } = head;
  const about = { name: `${project.domain}-keywords`, total: paging.total, range, ...(quality && { quality }) };
  const isCompared = range.comparison !== undefined;
  const { membership } = tracked;
  if (daily === undefined) {
    const columns = schema.columnsOf(aboutKeyword).map(
      ([name, type, read]): SetColumn<KeywordSet> => ({
        column: { name, type },
        cell: (set) => (row) => read(shownKeyword(set.keywords[row]!, membership)),
      }),
    );
    return table({ head: about, columns: [...columns, ...MEASURED], sets: [rows], isCompared });
  }
  const columns: readonly SetColumn<DaySet>[] = [
    { column: { name: 'id', type: 'text' }, cell: (set) => (row) => set.keyword(row).id },
    dimension('query'),
    dimension('date', 'day', 1),
    ...(daily.dayCounts ? [DAYS] : []),
  ];
  return table({ head: about, columns: [...columns, ...MEASURED], sets: daily.sets, isCompared });
}
