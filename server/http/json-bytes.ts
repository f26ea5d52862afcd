const BLOCK = 64 * 1024;
/** More than any number written by one call. */
const ROOM = 64;

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
    this.#reserve(json.length);
    this.#bytes.set(json, this.#length);
    this.#length += json.length;
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
    let rest = value - whole * scale;
    if (rest === 0) return;
    let places = decimals;
    while (rest % 10 === 0) {
      rest /= 10;
      places--;
    }
    this.#bytes[this.#length++] = 0x2e;
    for (let at = this.#length + places - 1; at >= this.#length; at--) {
      this.#bytes[at] = 0x30 + (rest % 10);
      rest = Math.floor(rest / 10);
    }
    this.#length += places;
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
    let digits = 1;
    for (let power = 10; power <= value; power *= 10) digits++;
    let rest = value;
    for (let at = this.#length + digits - 1; at >= this.#length; at--) {
      const tenth = Math.floor(rest / 10);
      this.#bytes[at] = 0x30 + (rest - tenth * 10);
      rest = tenth;
    }
    this.#length += digits;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + more));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
