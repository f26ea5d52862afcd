import {
  CHANGES,
  type Comparer,
  METRIC_NAMES,
  METRIC_SCALES,
  type MetricName,
  NOT_COMPARED,
  RATIO_SCALE,
  RATIOS,
  type Unsafe,
} from '../domain/comparison.ts';
import { type ExactMeasures, hasPosition, isKnown, scaledRatio, toMetrics } from '../domain/metrics.ts';
import { countedOf, type KnownMetrics, metricsIn, metricsOf, type RowSet, unsafeOf } from '../query/rows.ts';
import { Piece, TextBytes } from '../runtime/text-bytes.ts';

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

/** Max length of metrics: the longest numbers have 16 digits, and `ctr` at most 20 characters. */
const MAX_METRICS_BYTES = 192;
/** Max length of a comparison: its fixed text, 12 numbers, and all reasons of each metric. */
const MAX_COMPARED_BYTES = 2048;

const CLICKS = new Piece('"clicks":');
const IMPRESSIONS = new Piece(',"impressions":');
const CTR = new Piece(',"ctr":');
const POSITION = new Piece(',"position":');
const NO_RATIOS = new Piece(',"ctr":null,"position":null');
const UNKNOWN = new Piece('"clicks":null,"impressions":null,"ctr":null,"position":null');
const COMPARISON = new Piece(',"comparison":{"clicks":');
const NO_COMPARISON = new Piece(',"comparison":null,"change":null');
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

/**
 * Writes rows of row sets as bytes: the same JSON as of `metricsOf`, without an object or a string for each of 500,000.
 * V8 collects strings so late that a response would take 100 MB more, and strings of the many decimals of a comparison take
 * five times the processor time.
 */
export class RowBytes extends TextBytes {
  readonly #metrics: readonly string[];
  /** Those of searches. */
  readonly #asked: readonly MetricName[];
  readonly #changes = new Float64Array(CHANGES);

  /**
   * @param size the expected size of the content
   * @param metrics those that were asked for
   */
  constructor(size?: number, metrics: readonly string[] = METRIC_NAMES) {
    super(size);
    this.#metrics = metrics;
    this.#asked = METRIC_NAMES.filter((name) => metrics.includes(name));
  }

  /**
   * Writes a row up to its closing brace.
   * @param start the JSON before its metrics
   * @param between the JSON between its metrics and their comparison
   */
  row(start: Piece | string, set: RowSet, row: number, between?: Piece | string): void {
    this.#write(start);
    const now = set.now(row);
    const comparer = set.comparer?.(row);
    const base = comparer ? set.base!(row) : null;
    if (set.counts) {
      this.text(JSON.stringify(countedOf({ now, base, comparer }, set.counts, this.#metrics)).slice(1, -1));
      return;
    }
    if (this.#asked.length < METRIC_NAMES.length) {
      this.text(JSON.stringify(metricsOf({ now, base, comparer }, set.known, this.#asked)).slice(1, -1));
      return;
    }
    this.reserve(MAX_METRICS_BYTES);
    if (isKnown(now)) this.#sums(CLICKS, now, set.known);
    else this.raw(UNKNOWN);
    if (between !== undefined) this.#write(between);
    if (comparer !== undefined) this.#compared(comparer, now, base, set.known);
  }

  #write(text: Piece | string): void {
    if (typeof text !== 'string') this.piece(text);
    else if (text !== '') this.text(text);
  }

  /** Writes the properties of a comparison, each after a comma. */
  #compared(comparer: Comparer | null, now: ExactMeasures, base: ExactMeasures | null, known: KnownMetrics): void {
    this.reserve(MAX_COMPARED_BYTES);
    if (comparer === null || base === null || !isKnown(now) || !isKnown(base)) {
      this.raw(NO_COMPARISON);
      this.raw(unsafePiece(NOT_COMPARED.unsafe, known));
      return;
    }
    const changes = this.#changes;
    const unsafe = comparer.changes(now, base, changes);
    for (let at = metricsIn(known).length; at < RATIOS; at++)
      changes.fill(Number.NaN, at, at + 1).fill(Number.NaN, RATIOS + at, RATIOS + at + 1);
    this.#sums(COMPARISON, base, known);
    this.raw(CHANGE);
    this.#change(0, 0, METRIC_SCALES.clicks);
    this.#change(1, 0, METRIC_SCALES.impressions);
    this.#change(2, 4, METRIC_SCALES.ctr);
    this.#change(3, 1, METRIC_SCALES.position);
    this.raw(unsafePiece(unsafe, known));
  }

  /** Writes known sums; there must be space for them. */
  #sums(start: Piece, sums: ExactMeasures, known: KnownMetrics): void {
    const { clicks, impressions, sumPosition, fraction } = sums;
    this.raw(start);
    this.whole(clicks);
    this.raw(IMPRESSIONS);
    this.whole(impressions);
    if (impressions === 0 || known === 'counts') {
      this.raw(NO_RATIOS);
      return;
    }
    this.raw(CTR);
    this.decimal(scaledRatio(clicks, impressions, METRIC_SCALES.ctr), 4, METRIC_SCALES.ctr);
    this.raw(POSITION);
    if (known !== 'all' || !hasPosition(sums)) this.raw(NULL);
    else if (fraction === undefined) this.decimal(scaledRatio(sumPosition + impressions, impressions, 10), 1, 10);
    else this.number(toMetrics(sums).position!);
  }

  /** The change of a metric (NaN is null), and the text before the next one. `zeros` are those of `scale`. */
  #change(at: number, zeros: number, scale: number): void {
    const difference = this.#changes[at]!;
    const ratio = this.#changes[RATIOS + at]!;
    const after = AFTER_RATIO[at]!;
    if (Number.isNaN(difference)) this.raw(NULL);
    else this.decimal(difference, zeros, scale);
    if (Number.isNaN(ratio)) {
      this.raw(after.none);
      return;
    }
    this.raw(RATIO);
    this.decimal(ratio, 4, RATIO_SCALE);
    this.raw(after.number);
  }
}

/** Unsafe metrics as a property: rows share few such objects. */
const unsafePieces = new WeakMap<Unsafe, Piece>();

function unsafePiece(unsafe: Unsafe, known: KnownMetrics): Piece {
  if (known !== 'all') return new Piece(`,"unsafe":${JSON.stringify(unsafeOf(unsafe, known))}`);
  let piece = unsafePieces.get(unsafe);
  if (piece === undefined) {
    piece = new Piece(`,"unsafe":${JSON.stringify(unsafe)}`);
    unsafePieces.set(unsafe, piece);
  }
  return piece;
}
