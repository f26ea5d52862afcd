import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { ROOT } from '../readme.ts';

/**
 * Compares a generated part of a document with what the code says: the text between `<!-- NAME: ... -->` and
 * `<!-- /NAME -->`. `npm run docs` (UPDATE_DOCS=1) writes it instead.
 */
export function checkGenerated(t: Test, file: string, name: string, wanted: string): void {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const part = `<!-- ${name}: written by npm run docs -->\n${wanted.trimEnd()}\n<!-- /${name} -->`;
  const updated = text.replace(new RegExp(`<!-- ${name}:[\\s\\S]*?<!-- /${name} -->`), () => part);
  t.ok(updated.includes(part), `${file} has a place for ${name}`);
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(ROOT, file), updated);
  else t.equal(text, updated, `${file}: ${name} is up to date; npm run docs writes it`);
}
