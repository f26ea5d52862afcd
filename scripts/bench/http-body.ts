/** Follows the body of an answer to its end. */
export interface BodyReader {
  /** Takes the next bytes; true when the body has ended with them. */
  take(bytes: Buffer): boolean;
}

/** A body whose length was told. */
export class SizedBody implements BodyReader {
  #left: number;

  constructor(length: number) {
    if (!Number.isInteger(length)) throw new Error('The answer does not tell its length.');
    this.#left = length;
  }

  take(bytes: Buffer): boolean {
    this.#left -= bytes.length;
    if (this.#left < 0) throw new Error('The answer is longer than it said.');
    return this.#left === 0;
  }
}

const CR = 13;
const LF = 10;

/** A body in chunks, each behind its size; it ends with an empty one. */
export class ChunkedBody implements BodyReader {
  readonly #content: (bytes: Buffer) => void;
  #state: 'size' | 'content' | 'end of content' = 'size';
  #size = '';
  #left = 0;

  /** `content` gets what the chunks hold. */
  constructor(content: (bytes: Buffer) => void) {
    this.#content = content;
  }

  take(bytes: Buffer): boolean {
    for (let at = 0; at < bytes.length; ) {
      if (this.#state === 'content') {
        const piece = bytes.subarray(at, at + this.#left);
        this.#content(piece);
        at += piece.length;
        this.#left -= piece.length;
        if (this.#left === 0) this.#state = 'end of content';
        continue;
      }
      const byte = bytes[at++]!;
      if (byte === CR) continue;
      if (byte !== LF) this.#size += String.fromCharCode(byte);
      else if (this.#state === 'end of content') this.#state = 'size';
      else if (this.#beginChunk()) return true;
    }
    return false;
  }

  /** True behind the line that ends the last, empty chunk. */
  #beginChunk(): boolean {
    if (this.#size === '' && this.#left === -1) return true;
    const size = Number.parseInt(this.#size, 16);
    if (Number.isNaN(size)) throw new Error(`'${this.#size}' is no size of a chunk.`);
    this.#size = '';
    this.#left = size === 0 ? -1 : size;
    if (size > 0) this.#state = 'content';
    return false;
  }
}
