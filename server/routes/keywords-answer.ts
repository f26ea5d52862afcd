import type { Keyword } from '../catalog/keywords.ts';
import type { TrackedKeyword, TrackedKeywords } from '../catalog/tracked.ts';
import type { Membership } from '../domain/groups.ts';
import { isoInstant } from '../domain/instants.ts';
import type { DayGrid } from '../facts/day-grid.ts';
import type { KeywordTotals } from '../facts/keyword-totals.ts';
import { JsonBytes, jsonBytes } from '../http/json-bytes.ts';
import { writeMetrics } from '../http/metrics-json.ts';

/** Bytes that are handed over at a time. */
const CHUNK = 128 * 1024;
const COMMA = ',';
const CLOSE = Buffer.from('}');

type Tracked = Pick<TrackedKeywords, 'keywords' | 'membership'>;

interface About {
  /** All keywords of the project. */
  readonly tracked: Tracked;
  readonly totals: KeywordTotals;
}

/** Some of the keywords and their days. */
interface Part {
  readonly keywords: readonly TrackedKeyword[];
  readonly days: DayGrid;
}

/** The answer about keywords with their totals. */
export function keywordsAnswer(head: object, keywords: readonly TrackedKeyword[], about: About): Buffer {
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
  about: About,
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
function keywordWriter(json: JsonBytes, head: object, { tracked, totals }: About): (keyword: TrackedKeyword) => void {
  json.text(`${JSON.stringify(head).slice(0, -1)},"keywords":[`);
  const starts = startsOf(tracked);
  let isFirst = true;
  // Most keywords lie in the block of the one before.
  let number = -1;
  let { bytes, ends } = NO_BLOCK;
  return (keyword) => {
    const { position } = keyword;
    if (position >> BLOCK_BITS !== number) {
      number = position >> BLOCK_BITS;
      ({ bytes, ends } = starts.block(number));
    }
    const at = position - (number << BLOCK_BITS);
    const start = at === 0 ? 0 : ends[at - 1]!;
    json.part(bytes, isFirst ? start + COMMA.length : start, ends[at]!);
    isFirst = false;
    const { clicks, impressions, sumPosition } = totals.of(keyword);
    writeMetrics(json, clicks, impressions, sumPosition);
  };
}

/** 512 keywords have their starts made together. */
const BLOCK_BITS = 9;

/** Starts one behind the other, each after a comma, and where they end. */
interface Block {
  readonly bytes: Buffer;
  readonly ends: Uint32Array;
}

const NO_BLOCK: Block = { bytes: Buffer.alloc(0), ends: new Uint32Array(0) };

/** What answers say of each keyword before its numbers, made block by block where it is asked for. */
class Starts {
  readonly #tracked: Tracked;
  readonly #blocks: (Block | undefined)[] = [];

  constructor(tracked: Tracked) {
    this.#tracked = tracked;
  }

  block(number: number): Block {
    let block = this.#blocks[number];
    if (block === undefined) {
      block = this.#make(number);
      this.#blocks[number] = block;
    }
    return block;
  }

  #make(number: number): Block {
    const { keywords, membership } = this.#tracked;
    const json = new JsonBytes();
    const ends = Uint32Array.from(keywords.slice(number << BLOCK_BITS, (number + 1) << BLOCK_BITS), (keyword) => {
      json.text(COMMA + keywordStart(keyword, membership));
      return json.length;
    });
    return { bytes: json.copy(), ends };
  }
}

/** Kept for as long as the tracked keywords are. */
const startsOfTracked = new WeakMap<Tracked['keywords'], Starts>();

function startsOf(tracked: Tracked): Starts {
  let starts = startsOfTracked.get(tracked.keywords);
  if (starts === undefined) {
    starts = new Starts(tracked);
    startsOfTracked.set(tracked.keywords, starts);
  }
  return starts;
}

function keywordStart({ id, query, source, trackedSince, intent }: Keyword, membership: Membership): string {
  const groupIds = membership.groupsOf.get(id) ?? [];
  const start = { id, query, source, trackedSince: isoInstant(trackedSince), intent, groupIds };
  return `${JSON.stringify(start).slice(0, -1)},"metrics":{`;
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
    writeMetrics(json, clicks[cell]!, impressions[cell]!, sumPosition[cell]!);
  }
  json.text(']');
}
