import { NOT_COMPARED, RATIO_SCALE, RATIOS, type Unsafe } from '../domain/comparison.ts';
import { type Measures, scaledRatio } from '../domain/metrics.ts';
import { Piece, TextBytes } from '../runtime/text-bytes.ts';

/**
 * The properties of a metrics object and its closing brace: the same text as `JSON.stringify(toMetrics(measures))`,
 * without an object for each of 500,000 rows.
 */
export function metricsJson(clicks: number, impressions: number, sumPosition: number): string {
  if (impressions === 0) return `"clicks":${clicks},"impressions":0,"ctr":null,"position":null}`;
  const ctr = scaledRatio(clicks, impressions, 10_000) / 10_000;
  const position = scaledRatio(sumPosition + impressions, impressions, 10) / 10;
  return `"clicks":${clicks},"impressions":${impressions},"ctr":${ctr},"position":${position}}`;
}

/** The start of a response whose rows follow: `{…,"name":[`. The caller ends it with `]}`. */
export function openRows(head: object, name: string): string {
  return `${JSON.stringify(head).slice(0, -1)},"${name}":[`;
}

/** A whole response as JSON. */
export function documentJson<Answer extends object>(answer: Answer): Buffer {
  return Buffer.from(JSON.stringify(answer));
}

/** A page of a list, whose rows are already JSON. */
export function listJson({
  head,
  kind,
  json,
}: {
  readonly head: object;
  readonly kind: string;
  readonly json: readonly Buffer[];
}): Buffer {
  return Buffer.concat([Buffer.from(openRows(head, kind)), ...json, Buffer.from(']}')]);
}

/** Max length of the metrics of a day: the longest numbers have 16 digits, and `ctr` at most 20 characters. */
const MAX_METRICS_BYTES = 192;
/** Max length of a comparison: its fixed text, 12 numbers, and all reasons of each metric. */
const MAX_COMPARED_BYTES = 2048;

const CLICKS = new Piece('"clicks":');
const IMPRESSIONS = new Piece(',"impressions":');
const CTR = new Piece(',"ctr":');
const POSITION = new Piece(',"position":');
const NOTHING = new Piece(',"ctr":null,"position":null');
const COMPARISON = new Piece(',"comparison":{"clicks":');
const NONE = new Piece(`,${JSON.stringify(NOT_COMPARED).slice(1, -1)}`);
const CHANGE = new Piece('},"change":{"clicks":{"difference":');
const RATIO = new Piece(',"ratio":');
/** The text after the ratio of each metric, and the same with a ratio of null. */
const AFTER_RATIO = [
  '},"impressions":{"difference":',
  '},"ctr":{"difference":',
  '},"position":{"difference":',
  '}}',
].map((text) => ({ number: new Piece(text), none: new Piece(`,"ratio":null${text}`) }));
const NULL = new Piece('null');
const [COMMA, BRACE] = Buffer.from(',}') as unknown as [number, number];

/** Measures of the other range, and the results of `Comparer.changes`. */
export interface ComparedMeasures {
  readonly base: Measures;
  readonly changes: Float64Array;
  readonly unsafe: Unsafe;
}

/**
 * Writes metrics of keywords as bytes: the same JSON as from `metricsJson` and `JSON.stringify`, without a string for
 * each of 500,000 days. V8 collects strings so late that a response would take 100 MB more, and strings of the many
 * decimals of a comparison take five times the processor time.
 */
export class MetricsBytes extends TextBytes {
  /** Writes one day. `start` is the JSON before its metrics. */
  day(start: Piece, first: boolean, clicks: number, impressions: number, sumPosition: number): void {
    this.reserve(start.length + MAX_METRICS_BYTES);
    if (!first) this.bytes[this.end++] = COMMA;
    this.raw(start);
    this.#metrics(CLICKS, clicks, impressions, sumPosition);
    this.bytes[this.end++] = BRACE;
  }

  /** Writes one day with its comparison; null if the other range does not have the day, or it is unknown. */
  comparedDay(start: Piece, first: boolean, now: Measures, other: ComparedMeasures | null): void {
    this.day(start, first, now.clicks, now.impressions, now.sumPosition);
    // Overwrites the closing brace.
    this.end--;
    this.compared(other);
    this.bytes[this.end++] = BRACE;
  }

  /** Writes the properties of a comparison, each after a comma; null if there is nothing to compare with. */
  compared(other: ComparedMeasures | null): void {
    this.reserve(MAX_COMPARED_BYTES);
    if (other === null) {
      this.raw(NONE);
      return;
    }
    const { base, changes, unsafe } = other;
    this.#metrics(COMPARISON, base.clicks, base.impressions, base.sumPosition);
    this.raw(CHANGE);
    this.#change(changes, 0, 0, 1);
    this.#change(changes, 1, 0, 1);
    this.#change(changes, 2, 4, 10_000);
    this.#change(changes, 3, 1, 10);
    this.raw(unsafePiece(unsafe));
  }

  /** Writes a keyword's metrics after the JSON before them. */
  metrics(measures: Measures): void {
    this.reserve(MAX_METRICS_BYTES);
    this.#metrics(CLICKS, measures.clicks, measures.impressions, measures.sumPosition);
    this.bytes[this.end++] = BRACE;
  }

  /** Without the closing brace. */
  #metrics(start: Piece, clicks: number, impressions: number, sumPosition: number): void {
    this.raw(start);
    this.whole(clicks);
    this.raw(IMPRESSIONS);
    this.whole(impressions);
    if (impressions === 0) {
      this.raw(NOTHING);
      return;
    }
    this.raw(CTR);
    this.decimal(scaledRatio(clicks, impressions, 10_000), 4, 10_000);
    this.raw(POSITION);
    this.decimal(scaledRatio(sumPosition + impressions, impressions, 10), 1, 10);
  }

  /** The change of a metric, and the text before the next one. */
  #change(changes: Float64Array, at: number, zeros: number, scale: number): void {
    this.#signed(changes[at]!, zeros, scale);
    const ratio = changes[RATIOS + at]!;
    const after = AFTER_RATIO[at]!;
    if (Number.isNaN(ratio)) {
      this.raw(after.none);
      return;
    }
    this.raw(RATIO);
    this.decimal(ratio, 4, RATIO_SCALE);
    this.raw(after.number);
  }

  /** Like `#decimal`, for signed numbers; NaN is null. */
  #signed(value: number, zeros: number, scale: number): void {
    if (Number.isNaN(value)) {
      this.raw(NULL);
      return;
    }
    this.decimal(value, zeros, scale);
  }
}

/** A cache of unsafe metrics as a property: rows share few such objects. */
const unsafePieces = new WeakMap<Unsafe, Piece>();

function unsafePiece(unsafe: Unsafe): Piece {
  let piece = unsafePieces.get(unsafe);
  if (piece === undefined) {
    piece = new Piece(`,"unsafe":${JSON.stringify(unsafe)}`);
    unsafePieces.set(unsafe, piece);
  }
  return piece;
}
