import type { Keyword } from '../catalog/keywords.ts';
import type { Membership } from '../domain/groups.ts';
import { isoInstant } from '../domain/instants.ts';
import type { Measures } from '../domain/metrics.ts';
import type { DayGrid } from '../facts/day-grid.ts';
import { JsonBytes } from '../http/json-bytes.ts';
import { writeMetrics } from '../http/metrics-json.ts';

/** Bytes that are handed over at a time. Answers without days are small enough to be sent as one. */
const CHUNK = 128 * 1024;

interface Part {
  readonly keywords: readonly Keyword[];
  /** Only when days are asked for. */
  readonly days?: DayGrid;
}

interface Keywords {
  readonly membership: Membership;
  readonly totalsOf: (id: string) => Measures;
  readonly parts: Iterable<Part> | AsyncIterable<Part>;
}

/** The answer about keywords, as bytes: `head` and then one keyword after the other. */
export async function* keywordsBody(head: object, { membership, totalsOf, parts }: Keywords): AsyncGenerator<Buffer> {
  const json = new JsonBytes();
  json.text(`${JSON.stringify(head).slice(0, -1)},"keywords":[`);
  let isFirst = true;
  for await (const { keywords, days } of parts) {
    const dates = days?.days.map((date) => Buffer.from(`{"date":"${date}",`)) ?? [];
    for (const [index, keyword] of keywords.entries()) {
      json.text(`${isFirst ? '' : ','}${keywordStart(keyword, membership)},"metrics":{`);
      isFirst = false;
      writeMetrics(json, totalsOf(keyword.id));
      if (days !== undefined) writeDays(json, days, index, dates);
      json.text('}');
      if (days !== undefined && json.length >= CHUNK) yield json.take();
    }
  }
  json.text(']}');
  yield json.take();
}

/** What an answer says of a keyword before its numbers, without the closing brace. */
function keywordStart({ id, query, source, trackedSince, intent }: Keyword, membership: Membership): string {
  const groupIds = membership.groupsOf.get(id) ?? [];
  const start = { id, query, source, trackedSince: isoInstant(trackedSince), intent, groupIds };
  return JSON.stringify(start).slice(0, -1);
}

function writeDays(json: JsonBytes, days: DayGrid, keyword: number, dates: readonly Buffer[]): void {
  const { clicks, impressions, sumPosition, stored } = days;
  json.text(',"daily":[');
  const first = keyword * dates.length;
  let isFirst = true;
  for (let day = 0; day < dates.length; day++) {
    const cell = first + day;
    if (stored[cell] === 0) continue;
    if (!isFirst) json.text(',');
    isFirst = false;
    json.raw(dates[day]!);
    writeMetrics(json, {
      clicks: clicks[cell]!,
      impressions: impressions[cell]!,
      sumPosition: sumPosition[cell]!,
    });
  }
  json.text(']');
}
