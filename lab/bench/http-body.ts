/** Finds the end of an answer's body. */
export interface BodyReader {
  /** Takes the next bytes; returns true when the body has ended. */
  take(bytes: Buffer): boolean;
}

/** A body with a Content-Length. */
export class SizedBody implements BodyReader {
  #left: number;

  constructor(length: number) {
    if (!Number.isInteger(length)) throw new Error('The answer has no Content-Length.');
    this.#left = length;
  }

  take(bytes: Buffer): boolean {
    this.#left -= bytes.length;
    if (this.#left < 0) throw new Error('The answer is longer than its Content-Length.');
    return this.#left === 0;
  }
}

const CR = 13;
const LF = 10;

/** A chunked body: each chunk follows its size, and an empty chunk ends the body. */
export class ChunkedBody implements BodyReader {
  readonly #content: (bytes: Buffer) => void;
  #state: 'size' | 'content' | 'end of content' = 'size';
  #size = '';
  #left = 0;

  /** @param content called with the content of chunks */
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

  /** True after the line that ends the last, empty chunk. */
  #beginChunk(): boolean {
    if (this.#size === '' && this.#left === -1) return true;
    const size = Number.parseInt(this.#size, 16);
    if (Number.isNaN(size)) throw new Error(`'${this.#size}' is not a chunk size.`);
    this.#size = '';
    this.#left = size === 0 ? -1 : size;
    if (size > 0) this.#state = 'content';
    return false;
  }
}
