// These rules are those of sql/load/types/, since the loader does not check the values again.
const URL_TEXT = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/./s;
const BLANK = /^\p{Zs}*$/u;
/** Maximum bytes of a text in a fact. */
const MAX_TEXT = 65_536;

/** Whether a text can be the address of a fact. */
export function isUrl(text: string): boolean {
  return URL_TEXT.test(text) && isStorable(text);
}

/** Whether a text can be the query of a fact. */
export function isNonblank(text: string): boolean {
  return !BLANK.test(text) && isStorable(text);
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && (text.length * 3 <= MAX_TEXT || Buffer.byteLength(text) <= MAX_TEXT);
}
