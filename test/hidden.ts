import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files below folders that have one of the texts, also in other spellings. */
export function filesWith(folders: readonly string[], texts: readonly string[]): string[] {
  const spellings = texts.flatMap((text) => {
    const bytes = Buffer.from(text);
    const base64 = [bytes.toString('base64'), bytes.toString('base64url')].map((one) => one.replace(/.{0,2}=*$/, ''));
    return [text, bytes.toString('hex'), ...base64];
  });
  return folders
    .flatMap((cwd) => globSync('**/*', { cwd, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const content = readFileSync(path, 'latin1');
      return spellings.some((text) => content.includes(text));
    });
}
