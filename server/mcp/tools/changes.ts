import { METRIC_NAMES, type MetricName } from '../../domain/comparison.ts';
import { earlier } from '../../domain/dates.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { eventsIn } from '../../domain/provider-events.ts';
import type { Range } from '../../domain/range.ts';
import { type Cell, cellReader, plainColumns, type RowsAnswer } from '../../formats/rows.ts';
import { SURFACES } from '../../model/surfaces.ts';
import * as parameter from '../../presets/parameters.ts';
import { ofType, searchEngine, searchType, surfaceRange } from '../../presets/search-type.ts';
import { sitePreset } from '../../presets/site.ts';
import { project, type Sent } from '../arguments.ts';
import { quality, shortEvent } from '../quality.ts';
import { allRows, kind, qualityFor, rowParameters, surfaceParameters } from '../row-kinds.ts';
import { ask, type Tool } from '../tool.ts';
import { Top } from '../top.ts';

type Row = Readonly<Record<string, Cell>>;

const toolParameters = {
  kind,
  metric: parameter.choice('Metric', METRIC_NAMES, 'clicks', 'The metric that changed. A lower position is a gain.'),
  limit: parameter.wholeNumber({ minimum: 1, maximum: 100 }, 10, 'Most rows of each: gained, lost and vanished.'),
};

const surfaces = { engine: searchEngine, type: searchType };
/** What rows and the site have in common. */
const OF_SITE = ['device', 'country', 'engine', 'type'];

export const changes: Tool = {
  name: 'changes',
  title: 'What changed',
  description:
    'Which queries, pages or keywords gained and lost most against another range (by default the one just before), which vanished, and how the whole site changed, by any metric. For why clicks changed, explain_change adds up. Ratios that would mislead are null, with the reasons in unsafe: by default the newest days are provisional, so send to=final for ratios.',
  parameters: { project, ...toolParameters, ...rowParameters, ...surfaceParameters },
  required: ['project'],
  run: async ({ project: id = '', kind: sentKind, metric: sentMetric, limit: sentLimit, ...sent }, call) => {
    const asked = parameter.readParameters(toolParameters, { kind: sentKind, metric: sentMetric, limit: sentLimit });
    const { kind: of, metric, limit } = asked;
    const { engine, type } = parameter.readParameters(surfaces, { engine: sent['engine'], type: sent['type'] });
    const surface = engine === 'google' ? type : engine;
    if (metric === 'position' && !SURFACES[surface].hasQueries)
      throw invalidRequest(`metric must not be position with type ${surface}: it has no positions.`);
    // Reads whole lists, like long responses of the API.
    const leave = await call.context.longAnswers.enter(call.workspace, call.signal);
    try {
      const now = await allRows(of, id, { compare: 'previous', ...sent, ...qualityFor(sent) }, call);
      const { range, quality: known, total } = now.head;
      const { comparison: other, from, to } = range!;
      const then = { from: other!.from, to: other!.to };
      const { gained, lost } = await largestChanges(now, metric, limit);
      const { period: _, ...rest } = sent;
      // A comparison has no rows that exist only in the other range, so the reverse one is requested.
      const vanished =
        of === 'keywords'
          ? []
          : await vanishedRows(await allRows(of, id, between(rest, then, { from, to }), call), limit);
      const ofSite = Object.fromEntries(OF_SITE.flatMap((name) => (name in sent ? [[name, sent[name]!]] : [])));
      const { answer: site, events: ofProperty } = await ask(sitePreset, id, between(ofSite, { from, to }, then), call);
      const events = new Set([...ofProperty, ...(known?.events ?? [])]);
      const rows = { gained, lost, vanished };
      return {
        project: site.project,
        range: { ...surfaceRange(ofType(surface).type), from, to, comparison: then },
        ...(known && quality({ from, to }, known)),
        events: eventsIn([{ from: earlier(from, then.from), to }], null, [...events]).map(shortEvent),
        site: site.totals,
        kind: of,
        metric,
        total,
        returned: Object.fromEntries(Object.entries(rows).map(([name, { length }]) => [name, length])),
        ...rows,
      };
    } finally {
      leave();
    }
  },
};

function between(sent: Sent, range: Range, other: Range): Sent {
  return { ...sent, from: range.from, to: range.to, compare: `${other.from}..${other.to}` };
}

async function largestChanges(
  answer: RowsAnswer,
  metric: MetricName,
  limit: number,
): Promise<Record<'gained' | 'lost', Row[]>> {
  const gained = new Top<Row>(limit);
  const lost = new Top<Row>(limit);
  const sign = metric === 'position' ? -1 : 1;
  await eachRow(answer, [`change_${metric}`], ([difference], make) => {
    if (difference === null || difference === 0) return;
    const gain = sign * Number(difference);
    if (gain > 0) gained.add(gain, make);
    else lost.add(-gain, make);
  });
  return { gained: gained.items, lost: lost.items };
}

/** The rows with most clicks, then impressions, in the other range, of those without impressions now. */
async function vanishedRows(answer: RowsAnswer, limit: number): Promise<Row[]> {
  const vanished = new Top<Row>(limit);
  await eachRow(answer, ['comparison_impressions', 'clicks', 'impressions'], ([now, clicks, impressions], make) => {
    if (now !== 0) return;
    // Impressions decide only between equal clicks; a row has fewer than this.
    vanished.add(Number(clicks) + Number(impressions) / 1e12, () => {
      const { clicks: _clicks, impressions: _impressions, ctr, position, ...row } = make();
      const texts = Object.entries(row).filter(([name]) => !/^(comparison|change|changeRatio|unsafe)_/.test(name));
      const before = { comparison_clicks: clicks!, comparison_impressions: impressions! };
      return { ...Object.fromEntries(texts), ...before, comparison_ctr: ctr!, comparison_position: position! };
    });
  });
  return vanished.items;
}

/** Calls `see` with some cells of each row, and a function that creates an object of all of them. */
async function eachRow(
  { columns, batches }: RowsAnswer,
  names: readonly string[],
  see: (cells: readonly Cell[], make: () => Row) => void,
): Promise<void> {
  const indexes = names.map((name) => columns.findIndex((column) => column.name === name));
  const shown = plainColumns(columns);
  for await (const { length, cells } of batches) {
    const readers = cells.map(cellReader);
    for (let row = 0; row < length; row++) {
      see(
        indexes.map((index) => readers[index]!(row)),
        () => Object.fromEntries(shown.map(({ column, index }) => [column.name, readers[index]!(row)])),
      );
    }
  }
}
