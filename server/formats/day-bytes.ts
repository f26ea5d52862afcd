import { scaledRatio } from '../domain/metrics.ts';

/** Bytes of a block, unless a single piece needs more. */
const BLOCK = 128 * 1024;
/** No day is longer: the longest numbers have 16 digits, and `ctr` at most 20 characters. */
const MAX_DAY = 192;
/** Whole numbers below it are divided as integers of 32 bits. */
const SMALL = 2 ** 31;

const CLICKS = Buffer.from('"clicks":');
const IMPRESSIONS = Buffer.from(',"impressions":');
const CTR = Buffer.from(',"ctr":');
const POSITION = Buffer.from(',"position":');
const NOTHING = Buffer.from(',"ctr":null,"position":null}');
const [COMMA, POINT, ZERO, BRACE] = Buffer.from(',.0}') as unknown as [number, number, number, number];

/**
 * Writes the days of keywords as bytes: what `metricsJson` would write, without a string for each of 500,000 days. V8
 * collects strings so late that an answer would take 100 MB more.
 */
export class DayBytes {
  #bytes = Buffer.allocUnsafeSlow(BLOCK);
  #length = 0;

  /** Bytes written and not taken yet. */
  get length(): number {
    return this.#length;
  }

  /** Anything between days. */
  text(text: string): void {
    this.#reserve(text.length * 3);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** One day. `start` is what stands before its metrics. */
  day(start: Uint8Array, first: boolean, clicks: number, impressions: number, sumPosition: number): void {
    this.#reserve(start.length + MAX_DAY);
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

  /** A copy of what has been written since the last time; the block is written again. */
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
    if (value >= SMALL) {
      this.#length += this.#bytes.write(String(value), this.#length, 'latin1');
      return;
    }
    let digits = 1;
    for (let power = 10; power <= value; power *= 10) digits++;
    this.#digits(value, digits);
  }

  /** `value / scale`, whose scale has so many zeros, without zeros at the end: 250 of 10,000 is 0.025. */
  #decimal(value: number, zeros: number, scale: number): void {
    if (value >= SMALL) {
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

  /** So many digits of a small number, with zeros in front. */
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
