/** Encoded bytes. Their memory is used again after `clear`: new memory for each page would have to be collected. */
export class Output {
  /** The end of what was written. */
  end = 0;
  #bytes: Buffer;

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size);
  }

  /** The next bytes overwrite what was written. */
  clear(): void {
    this.end = 0;
  }

  /** What was written since `start`. */
  since(start: number): Buffer {
    return this.#bytes.subarray(start, this.end);
  }

  /** The memory, with room for so many bytes after `end`. */
  reserve(size: number): Buffer {
    const needed = this.end + size;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.end);
      this.#bytes = larger;
    }
    return this.#bytes;
  }
}
