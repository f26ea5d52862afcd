import type { Keyword } from '../catalog/keywords.ts';
import type { Membership } from '../domain/groups.ts';
import { isoInstant } from '../domain/instants.ts';
import type { DayGrid } from '../facts/day-grid.ts';
import type { TotalsOf } from '../facts/facts.ts';
import { JsonBytes, jsonBytes } from '../http/json-bytes.ts';
import { writeMetrics } from '../http/metrics-json.ts';

/** Bytes that are handed over at a time. */
const CHUNK = 128 * 1024;
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

interface Keywords {
  readonly membership: Membership;
  readonly totalsOf: TotalsOf;
}

/** Some of the keywords and their days. */
interface Part {
  readonly keywords: readonly Keyword[];
  readonly days: DayGrid;
}

/** The answer about keywords with their totals. */
export function keywordsAnswer(head: object, keywords: readonly Keyword[], about: Keywords): Buffer {
  return jsonBytes((json) => {
    const write = keywordWriter(json, head, about);
    for (const keyword of keywords) {
      write(keyword);
      json.raw(CLOSE);
    }
    json.text(']}');
  });
}

/** The answer about keywords with their totals and days, some kilobytes at a time. */
export async function* dailyKeywordsAnswer(
  head: object,
  parts: AsyncIterable<Part>,
  about: Keywords,
): AsyncGenerator<Buffer> {
  const json = new JsonBytes();
  const write = keywordWriter(json, head, about);
  for await (const { keywords, days } of parts) {
    const dates = days.days.map((date) => Buffer.from(`{"date":"${date}",`));
    for (const [index, keyword] of keywords.entries()) {
      write(keyword);
      writeDays(json, days, index, dates);
      json.raw(CLOSE);
      if (json.length >= CHUNK) yield json.take();
    }
  }
  json.text(']}');
  yield json.take();
}

/** Writes the start of an answer. What it returns writes keywords one after the other, without the closing brace. */
function keywordWriter(json: JsonBytes, head: object, { membership, totalsOf }: Keywords): (keyword: Keyword) => void {
  json.text(`${JSON.stringify(head).slice(0, -1)},"keywords":[`);
  const starts = startsOf(membership);
  let isFirst = true;
  return (keyword) => {
    let start = starts.get(keyword);
    if (start === undefined) {
      start = keywordStart(keyword, membership);
      starts.set(keyword, start);
    }
    if (!isFirst) json.raw(COMMA);
    isFirst = false;
    json.raw(start);
    writeMetrics(json, totalsOf(keyword.id));
  };
}

/** What answers say of keywords before their numbers, for as long as the tracked keywords are remembered. */
const startsOfAll = new WeakMap<Membership, Map<Keyword, Buffer>>();

function startsOf(membership: Membership): Map<Keyword, Buffer> {
  let starts = startsOfAll.get(membership);
  if (starts === undefined) {
    starts = new Map();
    startsOfAll.set(membership, starts);
  }
  return starts;
}

function keywordStart({ id, query, source, trackedSince, intent }: Keyword, membership: Membership): Buffer {
  const groupIds = membership.groupsOf.get(id) ?? [];
  const start = { id, query, source, trackedSince: isoInstant(trackedSince), intent, groupIds };
  return Buffer.from(`${JSON.stringify(start).slice(0, -1)},"metrics":{`);
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
