// Different requests never share a cache key, whatever texts they contain.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { cacheKey } from '../../server/domain/cache-key.ts';

t.test('different parts give different keys, whatever they contain', async (t) => {
  const part = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', ' ', ':', '"', ',', '\\', '[', ']', '\n', '\0', '1') }),
    fc.integer(),
    fc.constant(null),
    fc.boolean(),
    fc.record({ from: fc.string(), to: fc.string() }),
  );
  const parts = fc.array(part, { maxLength: 4 });
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      const isSame = JSON.stringify(a) === JSON.stringify(b);
      return (cacheKey(...a) === cacheKey(...b)) === isSame;
    }),
    { numRuns: 1000 },
  );
  t.not(cacheKey('acme', 'europe Proj1'), cacheKey('acme europe', 'Proj1'));
  t.not(cacheKey('1'), cacheKey(1));
  t.not(cacheKey('a', ''), cacheKey('a'));
});

/** Matches code that builds a cache key by joining texts. */
const JOINED = [
  /\.(?:get|set|has|delete|add|peek|fetch|forceFetch|remember|make|join)\(\s*`[^`]*\$\{/,
  /\b\w*(?:[kK]ey|address|sequence)\w* = `[^`]*\$\{/,
  /=> \[`[^`]*\$\{/,
  /\.join\(['"`][^)]*\)\s*(?:as CacheKey)/,
];

t.test('no code builds cache keys by joining texts', async (t) => {
  const root = join(import.meta.dirname, '../../server');
  const files = globSync('**/*.ts', { cwd: root });
  t.ok(files.length > 40, 'all files of the server are checked');
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const pattern of JOINED) if (pattern.test(text)) t.fail(`${file} joins a key: ${pattern.exec(text)![0]}`);
    if (file !== 'domain/cache-key.ts' && text.includes('as CacheKey')) t.fail(`${file}: only cacheKey makes a key`);
  }
});
