import { reportExternalBytes } from '../runtime/external-memory.ts';

const BLOCK = 64 * 1024;
/** More than any number written by one call. */
const ROOM = 64;
/** So few bytes are copied faster one by one than by a call that copies many. */
const FEW_BYTES = 32;
/** Whole numbers below it are divided as integers of 32 bits. */
const SMALL = 2 ** 31;

/**
 * Builds JSON as bytes, without an object or a string for each row: for answers of hundreds of thousands of rows. What
 * it writes is what `JSON.stringify` would.
 */
export class JsonBytes {
  #bytes = Buffer.allocUnsafe(BLOCK);
  #length = 0;

  /** Bytes written and not taken yet. */
  get length(): number {
    return this.#length;
  }

  /** JSON that is ready. */
  text(json: string): void {
    this.#reserve(json.length * 3);
    this.#length += this.#bytes.write(json, this.#length);
  }

  /** Bytes of JSON that are ready, such as fixed parts of rows. */
  raw(json: Uint8Array): void {
    const { length } = json;
    this.#reserve(length);
    if (length > FEW_BYTES) {
      this.#bytes.set(json, this.#length);
    } else {
      const bytes = this.#bytes;
      const end = this.#length;
      for (let at = 0; at < length; at++) bytes[end + at] = json[at]!;
    }
    this.#length += length;
  }

  /** A part of such bytes, from one place to before another. */
  part(json: Buffer, from: number, to: number): void {
    this.#reserve(to - from);
    this.#length += json.copy(this.#bytes, this.#length, from, to);
  }

  /** A whole number that is not negative. */
  whole(value: number): void {
    this.#reserve(ROOM);
    this.#digits(value);
  }

  /** `value / 10^decimals`, without zeros at the end: 250 with four decimals is 0.025. */
  decimal(value: number, decimals: number): void {
    this.#reserve(ROOM);
    const scale = 10 ** decimals;
    // The shortest writing of larger numbers is not plain digits any more.
    if (value > 1e12) {
      this.text(String(value / scale));
      return;
    }
    const whole = Math.floor(value / scale);
    this.#digits(whole);
    let rest = (value - whole * scale) | 0;
    if (rest === 0) return;
    let places = decimals;
    while (rest % 10 === 0) {
      rest = (rest / 10) | 0;
      places--;
    }
    this.#bytes[this.#length++] = 0x2e;
    this.#lastDigits(rest, this.#length, this.#length + places);
    this.#length += places;
  }

  /** A copy of what has been written; its memory is written into again. */
  copy(): Buffer {
    const copy = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return copy;
  }

  /** What has been written since the last time. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = Buffer.allocUnsafe(Math.max(BLOCK, this.#length + ROOM));
    this.#length = 0;
    return taken;
  }

  #digits(value: number): void {
    if (value < 10) {
      this.#bytes[this.#length++] = 0x30 + value;
      return;
    }
    if (value >= SMALL) {
      this.text(String(value));
      return;
    }
    let end = this.#length + 1;
    for (let power = 10; power <= value; power *= 10) end++;
    this.#lastDigits(value | 0, this.#length, end);
    this.#length = end;
  }

  /** Writes the digits of a small number so that they end before `end`, with zeros in front from `start` on. */
  #lastDigits(value: number, start: number, end: number): void {
    const bytes = this.#bytes;
    let rest = value | 0;
    for (let at = end - 1; at >= start; at--) {
      const tenth = (rest / 10) | 0;
      bytes[at] = 0x30 + (rest - tenth * 10);
      rest = tenth;
    }
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + more));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** The longest block that is kept for the next answer. */
const MOST_KEPT = 4 * 1024 * 1024;

let working: JsonBytes | undefined;

/**
 * The bytes that `write` writes. They are written into memory that all answers share one after the other: new memory for
 * each has the garbage collector run every few answers.
 */
export function jsonBytes(write: (json: JsonBytes) => void): Buffer {
  const json = working ?? new JsonBytes();
  working = undefined;
  write(json);
  const bytes = json.copy();
  reportExternalBytes(bytes.length);
  if (bytes.length <= MOST_KEPT) working = json;
  return bytes;
}
