import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A text, and how it stands in files that have it in another form: escaped, or its bytes as hex or base64. */
export function spellingsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  // The last letters depend on what follows.
  const base64 = [bytes.toString('base64'), bytes.toString('base64url')].map((one) => one.replace(/.{0,2}=*$/, ''));
  // A secret of 32 bytes is written as base64 itself.
  const decoded = Buffer.from(text, 'base64url');
  const asBytes = decoded.length === 32 ? [decoded.toString('hex')] : [];
  return [text, encodeURIComponent(text), bytes.toString('hex'), ...base64, ...asBytes];
}

/** The files below folders that have one of the texts, in any spelling. */
export function filesWith(folders: readonly string[], texts: readonly string[]): string[] {
  const spellings = texts.flatMap(spellingsOf);
  return folders
    .flatMap((cwd) => globSync('**/*', { cwd, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const content = readFileSync(path, 'latin1');
      return spellings.some((text) => content.includes(text));
    });
}
