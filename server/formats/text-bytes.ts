/** Initial size of the buffer; it grows for longer content. */
const BUFFER_BYTES = 128 * 1024;
/** Smaller numbers are divided as 32-bit integers. */
const INT32_LIMIT = 2 ** 31;
/** Max length of a number: it has at most 17 digits, a sign, a point and an exponent. */
const MAX_NUMBER_BYTES = 32;

/** Up to this length a loop is faster than a call. */
const MAX_SHORT = 64;

const [POINT, ZERO, MINUS] = Buffer.from('.0-') as unknown as [number, number, number];

/**
 * Writes text as bytes, with the same numbers as `JSON.stringify`, and without a string for each of millions of cells:
 * V8 collects strings so late that an answer would take 100 MB more.
 */
export class TextBytes {
  protected bytes: Buffer;
  /** Bytes written and not taken yet. */
  protected end = 0;

  /** @param size that its content is expected to have */
  constructor(size = BUFFER_BYTES) {
    this.bytes = Buffer.allocUnsafeSlow(size);
  }

  /** Bytes written and not taken yet. */
  get length(): number {
    return this.end;
  }

  text(text: string): void {
    this.reserve(text.length * 3);
    this.end += this.bytes.write(text, this.end);
  }

  copy(source: Uint8Array): void {
    this.reserve(source.length);
    if (source.length <= MAX_SHORT) {
      this.raw(source);
      return;
    }
    this.bytes.set(source, this.end);
    this.end += source.length;
  }

  /** Writes a finite number. */
  number(value: number): void {
    this.reserve(MAX_NUMBER_BYTES);
    if (Number.isInteger(value)) {
      this.decimal(value, 0, 1);
      return;
    }
    // Ratios have at most four places.
    const scaled = Math.round(value * 10_000);
    if (scaled / 10_000 === value) this.decimal(scaled, 4, 10_000);
    else this.#string(value);
  }

  /** Writes an ASCII character. */
  char(character: string): void {
    this.reserve(1);
    this.bytes[this.end++] = character.charCodeAt(0);
  }

  /** All that was written, without a copy. Nothing can be written after it. */
  all(): Buffer {
    return this.bytes.subarray(0, this.end);
  }

  /** A copy of what was written since the last call. The buffer is then reused. */
  take(): Buffer {
    const taken = Buffer.from(this.bytes.subarray(0, this.end));
    this.end = 0;
    return taken;
  }

  /** Short bytes, for which there is space. */
  protected raw(source: Uint8Array): void {
    const { bytes, end } = this;
    for (let index = 0; index < source.length; index++) bytes[end + index] = source[index]!;
    this.end = end + source.length;
  }

  /** A whole number that is not negative. There must be space for it. */
  protected whole(value: number): void {
    if (value >= INT32_LIMIT) {
      this.#string(value);
      return;
    }
    let digits = 1;
    for (let power = 10; power <= value; power *= 10) digits++;
    this.#digits(value, digits);
  }

  /** `value / scale` without trailing zeros: 250 of 10,000 is 0.025. `zeros` is the number of zeros of `scale`. */
  protected decimal(value: number, zeros: number, scale: number): void {
    if (value < 0) {
      this.bytes[this.end++] = MINUS;
      this.decimal(-value, zeros, scale);
      return;
    }
    if (value >= INT32_LIMIT) {
      this.#string(value / scale);
      return;
    }
    const whole = Math.floor(value / scale);
    this.whole(whole);
    let rest = value - whole * scale;
    if (rest === 0) return;
    let places = zeros;
    for (; rest % 10 === 0; places--) rest /= 10;
    this.bytes[this.end++] = POINT;
    this.#digits(rest, places);
  }

  protected reserve(more: number): void {
    if (this.end + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.end + more));
    this.bytes.copy(larger, 0, 0, this.end);
    this.bytes = larger;
  }

  #string(value: number): void {
    this.end += this.bytes.write(String(value), this.end, 'latin1');
  }

  /** A small number, padded with zeros to `count` digits. */
  #digits(value: number, count: number): void {
    const { bytes, end } = this;
    let rest = value | 0;
    for (let at = end + count - 1; at >= end; at--) {
      const tenth = (rest / 10) | 0;
      bytes[at] = ZERO + (rest - tenth * 10);
      rest = tenth;
    }
    this.end = end + count;
  }
}
