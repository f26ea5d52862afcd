import { type Measures, scaledRatio } from '../domain/metrics.ts';

/** Initial size of the buffer; it grows for longer content. */
const BUFFER_BYTES = 128 * 1024;
/** Max length of the metrics of a day: the longest numbers have 16 digits, and `ctr` at most 20 characters. */
const MAX_METRICS_BYTES = 192;
/** Smaller numbers are divided as 32-bit integers. */
const INT32_LIMIT = 2 ** 31;

const CLICKS = Buffer.from('"clicks":');
const IMPRESSIONS = Buffer.from(',"impressions":');
const CTR = Buffer.from(',"ctr":');
const POSITION = Buffer.from(',"position":');
const NOTHING = Buffer.from(',"ctr":null,"position":null}');
const [COMMA, POINT, ZERO, BRACE] = Buffer.from(',.0}') as unknown as [number, number, number, number];

/**
 * Writes the days of keywords as bytes: the same JSON as `metricsJson`, without a string for each of 500,000 days. V8
 * collects strings so late that an answer would take 100 MB more.
 */
export class DayBytes {
  #bytes = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #length = 0;

  /** Bytes written and not taken yet. */
  get length(): number {
    return this.#length;
  }

  /** Writes text between days. */
  text(text: string): void {
    this.#reserve(text.length * 3);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** Writes one day. `start` is the JSON before its metrics. */
  day(start: Uint8Array, first: boolean, clicks: number, impressions: number, sumPosition: number): void {
    this.#reserve(start.length + MAX_METRICS_BYTES);
    if (!first) this.#bytes[this.#length++] = COMMA;
    this.#raw(start);
    this.#raw(CLICKS);
    this.#whole(clicks);
    this.#raw(IMPRESSIONS);
    this.#whole(impressions);
    if (impressions === 0) {
      this.#raw(NOTHING);
      return;
    }
    this.#raw(CTR);
    this.#decimal(scaledRatio(clicks, impressions, 10_000), 4, 10_000);
    this.#raw(POSITION);
    this.#decimal(scaledRatio(sumPosition + impressions, impressions, 10), 1, 10);
    this.#bytes[this.#length++] = BRACE;
  }

  /** As `day`, with ASCII JSON after its metrics. */
  comparedDay(start: Uint8Array, first: boolean, measures: Measures, compared: string): void {
    this.day(start, first, measures.clicks, measures.impressions, measures.sumPosition);
    this.#reserve(compared.length + 2);
    // In place of the closing brace.
    this.#bytes[this.#length - 1] = COMMA;
    this.#length += this.#bytes.write(compared, this.#length, 'latin1');
    this.#bytes[this.#length++] = BRACE;
  }

  /** A copy of what was written since the last call. The buffer is then reused. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return taken;
  }

  #raw(source: Uint8Array): void {
    const bytes = this.#bytes;
    const at = this.#length;
    for (let index = 0; index < source.length; index++) bytes[at + index] = source[index]!;
    this.#length = at + source.length;
  }

  #whole(value: number): void {
    if (value >= INT32_LIMIT) {
      this.#length += this.#bytes.write(String(value), this.#length, 'latin1');
      return;
    }
    let digits = 1;
    for (let power = 10; power <= value; power *= 10) digits++;
    this.#digits(value, digits);
  }

  /** `value / scale` without trailing zeros: 250 of 10,000 is 0.025. `zeros` is the number of zeros of `scale`. */
  #decimal(value: number, zeros: number, scale: number): void {
    if (value >= INT32_LIMIT) {
      this.#length += this.#bytes.write(String(value / scale), this.#length, 'latin1');
      return;
    }
    const whole = Math.floor(value / scale);
    this.#whole(whole);
    let rest = value - whole * scale;
    if (rest === 0) return;
    let places = zeros;
    for (; rest % 10 === 0; places--) rest /= 10;
    this.#bytes[this.#length++] = POINT;
    this.#digits(rest, places);
  }

  /** A small number, padded with zeros to `count` digits. */
  #digits(value: number, count: number): void {
    const bytes = this.#bytes;
    const start = this.#length;
    let rest = value | 0;
    for (let at = start + count - 1; at >= start; at--) {
      const tenth = (rest / 10) | 0;
      bytes[at] = ZERO + (rest - tenth * 10);
      rest = tenth;
    }
    this.#length = start + count;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + more));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
