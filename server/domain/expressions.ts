import { RE2JS } from 're2js';

/** A regular expression of a client, found anywhere in a text. */
export interface Expression {
  readonly text: string;
  readonly ignoresCase: boolean;
}

/** The most instructions of all compiled expressions of one request, or of one rule. */
export const MAX_INSTRUCTIONS = 1000;
/**
 * Expressions whose parts, with repeated ones written out, are more than these are refused without being compiled: that
 * takes seconds for a text of 4,000 characters.
 */
const MAX_WRITTEN = 5 * MAX_INSTRUCTIONS;
/** Ranges of characters that cost as much as an instruction. `\pL` has 684. */
const RANGES_PER_INSTRUCTION = 16;

/** Names of characters that `re2js` knows and the RE2 of DuckDB does not. */
const UNKNOWN_TO_DUCKDB = new Set(
  [
    ...['Ascii', 'Assigned', 'Cn', 'LC', 'Lc', 'Unknown', 'ASCII_Hex_Digit', 'Alphabetic', 'Dash', 'Emoji'],
    ...['Emoji_Component', 'Emoji_Modifier', 'Emoji_Modifier_Base', 'Emoji_Presentation', 'Extended_Pictographic'],
    ...['Hex_Digit', 'Lowercase', 'Math', 'Quotation_Mark', 'Terminal_Punctuation', 'Uppercase', 'White_Space'],
    ...['Beria_Erfe', 'Garay', 'Gurung_Khema', 'Kirat_Rai', 'Ol_Onal', 'Sidetic', 'Sunuwar', 'Tai_Yo', 'Todhri'],
    ...['Tolong_Siki', 'Tulu_Tigalari'],
  ].flatMap((name) => [name, `^${name}`]),
);

/**
 * Checks the expressions of one request or rule, which share `MAX_INSTRUCTIONS`. What it accepts, `re2js` and DuckDB
 * both take.
 */
export class ExpressionCheck {
  #written = 0;
  #instructions = 0;
  #count = 0;

  /** A message that says what is wrong with the next expression, and what would be right; undefined for a valid one. */
  problemOf(expression: Expression): string | undefined {
    const shown = JSON.stringify(shortened(expression.text));
    const written = read(expression);
    this.#count++;
    this.#written += written.size;
    if (this.#written > MAX_WRITTEN) return this.#tooLarge(shown, written);
    if (written.onlyHere !== undefined) return `${shown} has ${written.onlyHere}`;
    const compiled = written.isEndless ? undefined : compiledOf(expression);
    if (compiled === undefined) return `${shown} is not a regular expression of the RE2 syntax`;
    this.#instructions += instructionsOf(compiled);
    return this.#instructions > MAX_INSTRUCTIONS ? this.#tooLarge(shown, written) : undefined;
  }

  #tooLarge(shown: string, { repeat, table }: Written): string {
    const smaller = [
      ...(repeat === undefined ? [] : [`a smaller count than ${repeat}`]),
      ...(table === undefined ? [] : [`[a-z] or [0-9] in place of ${table}`]),
      ...(this.#count > 1 ? ['fewer expressions'] : []),
    ];
    const advice = smaller.length === 0 ? 'a shorter expression' : smaller.join(', or ');
    return `${shown} compiles to too many instructions: all expressions together may have ${MAX_INSTRUCTIONS}; use ${advice}`;
  }
}

/** Compiles a valid expression. */
export function compileExpression(expression: Expression): (text: string) => boolean {
  const compiled = RE2JS.compile(expression.text, flagsOf(expression));
  return (text) => compiled.test(text);
}

/** Asks whoever runs the steps of long work which texts an expression finds, because that may take long. */
export class Search {
  readonly expression: Expression;
  readonly texts: readonly string[];
  /** Instructions times characters, of which a million take 20 to 120 milliseconds at worst. */
  readonly cost: number;

  constructor(expression: Expression, texts: readonly string[], cost: number) {
    this.expression = expression;
    this.texts = texts;
    this.cost = cost;
  }
}

/** Long work. After each step it yields nothing, or a search; the answer is 1 for each text that the expression finds. */
export type Steps<T> = Generator<unknown, T, Uint8Array | undefined>;

/** The most texts of a search, and its cost: at worst two milliseconds for the first ones, then fifty in a thread. */
const MAX_TEXTS = 500;
export const SMALL_COST = 20_000;
const SMALL_SEARCHES = 20;
const LARGE_COST = 500_000;

/** 1 for each text that an expression finds. @param textOf returns the text at an index */
export function* markFound(
  expression: Expression,
  length: number,
  textOf: (at: number) => string,
): Steps<Uint8Array<ArrayBuffer>> {
  const marks = new Uint8Array(length);
  const { size } = read(expression);
  let searches = 0;
  for (let from = 0; from < length; ) {
    const most = searches++ < SMALL_SEARCHES ? SMALL_COST : LARGE_COST;
    const texts = [textOf(from)];
    let cost = size * (texts[0]!.length + 1);
    while (from + texts.length < length && texts.length < MAX_TEXTS) {
      const text = textOf(from + texts.length);
      const more = size * (text.length + 1);
      if (cost + more > most) break;
      cost += more;
      texts.push(text);
    }
    marks.set((yield new Search(expression, texts, cost))!, from);
    from += texts.length;
  }
  return marks;
}

function compiledOf(expression: Expression): RE2JS | undefined {
  try {
    return RE2JS.compile(expression.text, flagsOf(expression));
  } catch {
    return undefined;
  }
}

function flagsOf({ ignoresCase }: Expression): number {
  return ignoresCase ? RE2JS.CASE_INSENSITIVE : 0;
}

/** The instructions of a compiled expression. Many ranges count as several, because DuckDB compiles them to as many. */
function instructionsOf(compiled: RE2JS): number {
  const { inst } = compiled.re2().prog as { inst: readonly { runes: Int32Array | null }[] };
  return inst.reduce((sum, { runes }) => sum + 1 + Math.floor((runes?.length ?? 0) / 2 / RANGES_PER_INSTRUCTION), 0);
}

/** The instructions of an expression. Throws for another syntax. */
export function countInstructions(expression: Expression): number {
  return instructionsOf(RE2JS.compile(expression.text, flagsOf(expression)));
}

/** What an expression is, as far as its text says. */
export interface Written {
  /** At least as many as the instructions that it is compiled to. */
  readonly size: number;
  /** Whether a set of characters has no end, which is no expression. */
  readonly isEndless: boolean;
  /** What `re2js` understands and DuckDB does not, and what both do. */
  readonly onlyHere: string | undefined;
  /** The largest count of a repetition, such as `{900}`. */
  readonly repeat: string | undefined;
  /** The first named set of characters, such as `\pL`. */
  readonly table: string | undefined;
}

/** What an expression consists of. Everything else is a literal character. */
const PARTS = new RegExp(
  [
    String.raw`\\Q(?<quoted>[\s\S]*?)(?:\\E|$)`,
    String.raw`(?<table>\\[pP](?:\{[^}]*\}|[\s\S]))`,
    String.raw`\\x\{[^}]*\}|\\[\s\S]`,
    // A text is a member in one way only, and a set without an end is all that is left: searching on would take hours.
    String.raw`\[\^?(?<members>\]?(?:\[:\^?\w+:\]|\\[pPx]\{[^}]*\}|\\(?![pPx]\{[^}]*\})[\s\S]|[^\]\\])*)\]`,
    String.raw`(?<endless>\[)[\s\S]*`,
    String.raw`\(\?[a-zA-Z-]*(?<flags>[:)])`,
    String.raw`(?<named>\(\?P?<[^>]*>)`,
    String.raw`(?<open>\()|(?<close>\))|(?<or>\|)`,
    String.raw`(?<repeat>\{(?<min>\d+)(?<range>,(?<max>\d*))?\})`,
    '(?<some>[*+?])',
    String.raw`[\s\S]`,
  ].join('|'),
  'gu',
);

/** Reads an expression without compiling it. */
export function read({ text, ignoresCase }: Expression): Written {
  const folds = ignoresCase || /\(\?[a-zA-Z]*i/.test(text);
  const groups: Size[] = [];
  let at = new Size();
  let isEndless = false;
  let onlyHere: string | undefined;
  let table: string | undefined;
  let most: { readonly count: number; readonly text: string } | undefined;
  const know = (name: string): void => {
    table ??= name;
    const known = name.slice(2).replace(/^\{(.*)\}$/, '$1');
    if (UNKNOWN_TO_DUCKDB.has(known))
      onlyHere ??= `${name}, which not every engine knows; name a script or a general category, such as \\p{Greek} or \\pL`;
  };
  for (const { 0: part, groups: found = {} } of text.matchAll(PARTS)) {
    const { quoted, members, flags, named, min, range, max } = found;
    if (quoted !== undefined) {
      for (const _ of quoted) at.add(1);
    } else if (found['table'] !== undefined) {
      know(part);
      at.add(1 + TABLE);
    } else if (members !== undefined) {
      for (const [name] of members.matchAll(/\\[pP](?:\{[^}]*\}|[\s\S])/gu)) know(name);
      at.add(1 + rangesIn(members, folds));
    } else if (found['endless'] !== undefined) {
      isEndless = true;
    } else if (named !== undefined || found['open'] !== undefined || flags === ':') {
      if (named?.startsWith('(?<') === true)
        onlyHere ??= `${named}, which not every engine knows; write (?P<name>…) or (?:…)`;
      groups.push(at);
      at = new Size(flags === ':' ? 0 : 2);
    } else if (found['close'] !== undefined) {
      const { sum, ends } = at;
      at = groups.pop() ?? new Size();
      at.add(Math.max(1, sum) + ends);
    } else if (found['or'] !== undefined) {
      at.add(2);
    } else if (min !== undefined) {
      const count = Math.max(Number(min), Number(max ?? 0));
      if (count > (most?.count ?? 0)) most = { count, text: part };
      at.repeat(count, range === undefined ? 0 : count - Number(min) + 2);
    } else if (found['some'] !== undefined) {
      at.repeat(1, 2);
    } else if (flags === undefined) {
      at.add(1);
    }
  }
  const size = groups.reduce((sum, group) => sum + group.sum + group.ends, at.sum + at.ends) + 3;
  return { size, isEndless, onlyHere, repeat: most?.text, table };
}

/** Instructions of the largest set of characters that has a name, besides one. */
const TABLE = 64;

/** The size of parts that follow one another. */
class Size {
  sum = 0;
  /** Instructions of the ends of a group. */
  readonly ends: number;
  #last = 0;

  constructor(ends = 0) {
    this.ends = ends;
  }

  add(size: number): void {
    this.#last = size;
    this.sum += size;
  }

  /** Repeats the last part, with some instructions besides. */
  repeat(count: number, more: number): void {
    const size = Math.max(1, this.#last * count + more);
    this.sum += size - this.#last;
    this.#last = size;
  }
}

/** At most how many instructions the ranges of a set like `[a-z\d]` count as. */
function rangesIn(members: string, folds: boolean): number {
  let ranges = 1;
  for (const [part] of members.matchAll(MEMBERS)) {
    if (/^\\[pP]/.test(part)) ranges += TABLE * RANGES_PER_INSTRUCTION;
    else if (/^(?:\[:|\\[^x])/.test(part)) ranges += 8;
    else if (/^[ -~](?:-[ -~])?$/.test(part)) ranges += folds ? 4 : 1;
    else ranges += folds ? spanOf(part) : 1;
  }
  return Math.floor(ranges / RANGES_PER_INSTRUCTION);
}

const CHARACTER = String.raw`(?:\\x\{[^}]*\}|\\x[0-9a-fA-F]{2}|\\[\s\S]|[\s\S])`;
const MEMBERS = new RegExp(
  String.raw`\\[pP](?:\{[^}]*\}|[\s\S])|\[:\^?\w+:\]|${CHARACTER}-${CHARACTER}|${CHARACTER}`,
  'gu',
);

/** At most how many ranges a range of characters has in any case. */
function spanOf(part: string): number {
  const [first = 0, last = first] = [...part.matchAll(/\\x\{?([0-9a-fA-F]+)\}?|\\?([\s\S])/gu)]
    .filter(([character], index) => index !== 1 || character !== '-')
    .map(([, code, character]) => (code === undefined ? character!.codePointAt(0)! : Number.parseInt(code, 16)));
  return Math.min(TABLE * RANGES_PER_INSTRUCTION, 4 * (last - first + 1));
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
