/** Texts per part: enough for a fast search, few enough for one step. */
const TEXTS_PER_PART = 4096;
const SEPARATOR = '\n';

interface Part {
  /** The texts, each followed by the separator. */
  readonly joined: string;
  /** Where each text begins, and the end. */
  readonly starts: Uint32Array;
}

/**
 * Searches many texts at once. Searching one long text is three times as fast as searching each short one, but joining
 * them takes longer than that, so it is worthwhile only for two or more searches.
 */
export class JoinedTexts {
  readonly #parts: readonly Part[];
  readonly #length: number;

  private constructor(parts: readonly Part[], length: number) {
    this.#parts = parts;
    this.#length = length;
  }

  /** Whether a text can be searched for. */
  static canFind(value: string): boolean {
    return value !== '' && !value.includes(SEPARATOR);
  }

  /** @param textOf returns the text at an index */
  static *of(length: number, textOf: (at: number) => string): Generator<void, JoinedTexts> {
    const parts: Part[] = [];
    for (let first = 0; first < length; first += TEXTS_PER_PART) {
      parts.push(joinPart(first, Math.min(length, first + TEXTS_PER_PART), textOf));
      yield;
    }
    return new JoinedTexts(parts, length);
  }

  /** 1 for each text that contains `value`. */
  *find(value: string): Generator<void, Uint8Array> {
    const found = new Uint8Array(this.#length);
    for (const [index, part] of this.#parts.entries()) {
      findInPart(part, value, found.subarray(index * TEXTS_PER_PART));
      yield;
    }
    return found;
  }
}

function joinPart(first: number, end: number, textOf: (at: number) => string): Part {
  const texts: string[] = [];
  const starts = new Uint32Array(end - first + 1);
  for (let at = first; at < end; at++) {
    const text = textOf(at);
    texts.push(text);
    starts[at - first + 1] = starts[at - first]! + text.length + SEPARATOR.length;
  }
  texts.push('');
  return { joined: texts.join(SEPARATOR), starts };
}

function findInPart({ joined, starts }: Part, value: string, found: Uint8Array): void {
  let text = 0;
  for (let at = joined.indexOf(value); at !== -1; at = joined.indexOf(value, starts[text])) {
    while (starts[text + 1]! <= at) text++;
    found[text] = 1;
    text++;
  }
}
