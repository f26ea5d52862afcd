import { RATIO_SCALE, RATIOS, type Unsafe } from '../domain/comparison.ts';
import { type Measures, scaledRatio } from '../domain/metrics.ts';
import { TextBytes } from './text-bytes.ts';

/** Max length of the metrics of a day: the longest numbers have 16 digits, and `ctr` at most 20 characters. */
const MAX_METRICS_BYTES = 192;
/** Max length of what stands beside metrics: its fixed text, 12 numbers, and all reasons of each metric. */
const MAX_COMPARED_BYTES = 2048;

const CLICKS = Buffer.from('"clicks":');
const IMPRESSIONS = Buffer.from(',"impressions":');
const CTR = Buffer.from(',"ctr":');
const POSITION = Buffer.from(',"position":');
const NOTHING = Buffer.from(',"ctr":null,"position":null}');
const COMPARISON = Buffer.from(',"comparison":{');
const CHANGE_CLICKS = Buffer.from(',"change":{"clicks":{"difference":');
const RATIO = Buffer.from(',"ratio":');
const CHANGE_IMPRESSIONS = Buffer.from('},"impressions":{"difference":');
const CHANGE_CTR = Buffer.from('},"ctr":{"difference":');
const CHANGE_POSITION = Buffer.from('},"position":{"difference":');
const UNSAFE = Buffer.from('}},"unsafe":');
const NULL = Buffer.from('null');
const [COMMA, BRACE] = Buffer.from(',}') as unknown as [number, number];

/** Measures of the other range, and what `Comparer.changes` made of them. */
export interface ComparedMeasures {
  readonly base: Measures;
  readonly changes: Float64Array;
  readonly unsafe: Unsafe;
}

/**
 * Writes metrics of keywords as bytes: the same JSON as `metricsJson` and `JSON.stringify` give, without a string for
 * each of 500,000 days. V8 collects strings so late that an answer would take 100 MB more; and strings of the many
 * decimals of a comparison take five times the processor time.
 */
export class MetricsBytes extends TextBytes {
  /** Writes one day. `start` is the JSON before its metrics. */
  day(start: Uint8Array, first: boolean, clicks: number, impressions: number, sumPosition: number): void {
    this.reserve(start.length + MAX_METRICS_BYTES);
    if (!first) this.bytes[this.end++] = COMMA;
    this.raw(start);
    this.#metrics(clicks, impressions, sumPosition);
  }

  /** Writes one day with the properties beside its metrics. */
  comparedDay(start: Uint8Array, first: boolean, now: Measures, other: ComparedMeasures): void {
    this.day(start, first, now.clicks, now.impressions, now.sumPosition);
    // In place of the closing brace.
    this.end--;
    this.compared(other);
    this.bytes[this.end++] = BRACE;
  }

  /** Writes the properties beside metrics, each after a comma. */
  compared({ base, changes, unsafe }: ComparedMeasures): void {
    this.reserve(MAX_COMPARED_BYTES);
    this.raw(COMPARISON);
    this.#metrics(base.clicks, base.impressions, base.sumPosition);
    this.raw(CHANGE_CLICKS);
    this.#change(changes, 0, 0, 1);
    this.raw(CHANGE_IMPRESSIONS);
    this.#change(changes, 1, 0, 1);
    this.raw(CHANGE_CTR);
    this.#change(changes, 2, 4, 10_000);
    this.raw(CHANGE_POSITION);
    this.#change(changes, 3, 1, 10);
    this.raw(UNSAFE);
    this.raw(unsafeBytes(unsafe));
  }

  /** Writes a keyword's metrics after the JSON before them. */
  metrics(measures: Measures): void {
    this.reserve(MAX_METRICS_BYTES);
    this.#metrics(measures.clicks, measures.impressions, measures.sumPosition);
  }

  #metrics(clicks: number, impressions: number, sumPosition: number): void {
    this.raw(CLICKS);
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
    this.bytes[this.end++] = BRACE;
  }

  #change(changes: Float64Array, at: number, zeros: number, scale: number): void {
    this.#signed(changes[at]!, zeros, scale);
    this.raw(RATIO);
    this.#signed(changes[RATIOS + at]!, 4, RATIO_SCALE);
  }

  /** As `#decimal`, of a number of either sign; NaN is null. */
  #signed(value: number, zeros: number, scale: number): void {
    if (Number.isNaN(value)) {
      this.raw(NULL);
      return;
    }
    this.decimal(value, zeros, scale);
  }
}

/** The JSON of unsafe metrics: rows share few such objects. */
const unsafeJson = new WeakMap<Unsafe, Uint8Array>();

function unsafeBytes(unsafe: Unsafe): Uint8Array {
  let bytes = unsafeJson.get(unsafe);
  if (bytes === undefined) {
    bytes = Buffer.from(JSON.stringify(unsafe));
    unsafeJson.set(unsafe, bytes);
  }
  return bytes;
}
