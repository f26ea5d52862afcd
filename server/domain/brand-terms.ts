/** A text that makes a query a brand query: wherever it stands, or only as whole words in any case, with or without accents. */
export type BrandTerm = string | WholeWords;
interface WholeWords {
  readonly text: string;
  readonly match: 'word';
}

/** The longest expression that providers accept. */
export const MAX_EXPRESSION = 4096;

/** Letters with accents, in lower case. */
const ACCENTED: readonly (readonly [first: number, last: number])[] = [
  [0xc0, 0x24f],
  [0x370, 0x52f],
  [0x1e00, 0x1fff],
];
/** What a letter, digit or mark of a word is. */
const IN_WORD = String.raw`\p{L}\p{N}\p{M}`;

/** Whether a query in lower case is a brand query. */
export function brandTest(terms: readonly BrandTerm[]): (query: string) => boolean {
  const texts = textsOf(terms);
  const pattern = wordPattern(terms);
  if (pattern === null) return (query) => texts.some((text) => query.includes(text));
  const words = new RegExp(pattern, 'u');
  return (query) => texts.some((text) => query.includes(text)) || words.test(query);
}

/** The texts that count wherever they stand, in lower case. */
export function textsOf(terms: readonly BrandTerm[]): string[] {
  return terms.filter((term) => typeof term === 'string').map((term) => term.toLowerCase());
}

/** An expression that finds terms of whole words in queries in lower case; null without such terms. */
export function wordPattern(terms: readonly BrandTerm[]): string | null {
  const words = terms.filter((term) => typeof term !== 'string');
  return words.length === 0 ? null : words.map(wordExpression).join('|');
}

/**
 * An expression that finds whole words in queries in lower case. JavaScript, DuckDB and the provider (RE2) read it alike, so
 * that all of them find the same queries.
 */
export function wordExpression({ text }: WholeWords): string {
  const letters = Array.from(folded(text), (letter) => {
    if (/\s/u.test(letter)) return ' ';
    if (!/[\p{L}\p{N}\p{M}]/u.test(letter)) return letter.replace(/[\^$\\.*+?()[\]{}|/]/, String.raw`\$&`);
    const accented = variants().get(letter) ?? '';
    return `${accented === '' ? letter : `[${letter}${accented}]`}\\p{M}*`;
  });
  return `(?:^|[^${IN_WORD}])${letters.join('')}(?:[^${IN_WORD}]|$)`;
}

/** Terms from the columns of a project in the catalog. */
export function brandTermsOf({
  texts,
  words,
}: {
  readonly texts: readonly string[];
  readonly words: readonly string[] | null;
}): BrandTerm[] {
  return [...texts, ...(words ?? []).map((text) => ({ text, match: 'word' }) as const)];
}

/** The columns of a project for its terms. */
export function brandColumns(terms: readonly BrandTerm[]): { brand_terms: string[]; brand_words: string[] | null } {
  const words = terms.flatMap((term) => (typeof term === 'string' ? [] : [term.text]));
  return {
    brand_terms: terms.filter((term) => typeof term === 'string'),
    brand_words: words.length === 0 ? null : words,
  };
}

/** A text in lower case without accents. */
function folded(text: string): string {
  const letters = text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '');
  return letters.normalize('NFC').replaceAll('ς', 'σ').trim().replaceAll(/\s+/g, ' ');
}

let known: ReadonlyMap<string, string> | undefined;

/** For each letter the ones with accents that are folded to it. */
function variants(): ReadonlyMap<string, string> {
  if (known !== undefined) return known;
  const found = new Map<string, string>();
  for (const [first, last] of ACCENTED) {
    for (let code = first; code <= last; code++) {
      const letter = String.fromCodePoint(code);
      const plain = folded(letter);
      if (letter !== letter.toLowerCase() || plain === letter || plain.length !== 1) continue;
      found.set(plain, (found.get(plain) ?? '') + letter);
    }
  }
  known = found;
  return found;
}
