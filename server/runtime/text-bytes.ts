/** Initial size of the buffer; it grows for longer content. */
const BUFFER_BYTES = 128 * 1024;
/** Smaller numbers are divided as 32-bit integers. */
const INT32_LIMIT = 2 ** 31;
/** Max length of a number: it has at most 17 digits, a sign, a point and an exponent. */
const MAX_NUMBER_BYTES = 32;

/** Text to write many times, eight bytes at a time: single bytes take five times as long. */
export class Piece {
  readonly length: number;
  /** The bytes. In valid UTF-8 no eight of them are NaN, which might be written as another NaN. */
  readonly words: Float64Array;

  constructor(text: string) {
    const bytes = Buffer.from(text);
    this.length = bytes.length;
    this.words = new Float64Array(Math.ceil(bytes.length / 8));
    new Uint8Array(this.words.buffer).set(bytes);
  }
}
/** Max bytes by which the last word of a piece exceeds its end. */
const MAX_REST = 7;

const [POINT, ZERO, MINUS] = Buffer.from('.0-') as unknown as [number, number, number];

/**
 * Writes text as bytes, with the same numbers as `JSON.stringify`, and without a string for each of millions of cells:
 * V8 collects strings so late that a response would take 100 MB more.
 */
export class TextBytes {
  protected bytes: Buffer;
  #view: DataView;
  /** Bytes written and not taken yet. */
  protected end = 0;

  /** @param size the expected size of the content */
  constructor(size = BUFFER_BYTES) {
    this.bytes = Buffer.allocUnsafeSlow(size);
    this.#view = viewOf(this.bytes);
  }

  /** Bytes written and not taken yet. */
  get length(): number {
    return this.end;
  }

  text(text: string): void {
    this.reserve(text.length * 3);
    this.end += this.bytes.write(text, this.end);
  }

  piece(piece: Piece): void {
    this.reserve(piece.length);
    this.raw(piece);
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

  /** Like `number`, always with a decimal point: readers guess the type of a column from its first rows. */
  fraction(value: number): void {
    this.number(value);
    if (!Number.isSafeInteger(value)) return;
    this.reserve(2);
    this.bytes[this.end++] = POINT;
    this.bytes[this.end++] = ZERO;
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

  /** Writes a piece. There must be space for it. */
  protected raw({ words, length }: Piece): void {
    const view = this.#view;
    let at = this.end;
    // As on all processors that Node runs on.
    for (let index = 0; index < words.length; index++, at += 8) view.setFloat64(at, words[index]!, true);
    this.end += length;
  }

  /** Writes a non-negative integer. There must be space for it. */
  protected whole(value: number): void {
    if (value >= INT32_LIMIT) {
      this.#string(value);
      return;
    }
    this.#whole(value | 0);
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
    // Integers of 32 bits: their division is several times faster than that of doubles.
    const whole = ((value | 0) / scale) | 0;
    this.#whole(whole);
    let rest = ((value | 0) - whole * scale) | 0;
    if (rest === 0) return;
    let places = zeros;
    for (; rest % 10 === 0; places--) rest = (rest / 10) | 0;
    this.bytes[this.end++] = POINT;
    this.#digits(rest, places);
  }

  protected reserve(more: number): void {
    const size = this.end + more + MAX_REST;
    if (size <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, size));
    this.bytes.copy(larger, 0, 0, this.end);
    this.bytes = larger;
    this.#view = viewOf(larger);
  }

  #string(value: number): void {
    this.end += this.bytes.write(String(value), this.end, 'latin1');
  }

  #whole(value: number): void {
    let digits = 1;
    for (let rest = value; rest >= 10; rest = (rest / 10) | 0) digits++;
    this.#digits(value, digits);
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

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
