/** Addresses of memory, and paths of two or more names. */
const ADDRESS = /\b0x[0-9a-f]{4,}\b/gi;
const PATH = /(?:\/[\w.@+~-]+){2,}\/?/g;

/**
 * An error of DuckDB as a client may read it: in its words, without the stack, and without paths and addresses that the
 * client did not write.
 */
export function clientMessage(
  message: string,
  { sql, folder }: { readonly sql: string; readonly folder: string },
): string {
  const [told = ''] = message.split(/\s*\n\s*Stack Trace:/i);
  const isOwn = (text: string): boolean => sql.includes(text);
  return told
    .replaceAll(`${folder}/`, '')
    .replaceAll(PATH, (path) => (isOwn(path) ? path : '…'))
    .replaceAll(ADDRESS, (address) => (isOwn(address) ? address : '…'))
    .replace(/\s*This error signals an assertion failure within DuckDB[\s\S]*/, '')
    .trim();
}
