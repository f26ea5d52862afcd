// The sync accepts a provider's row exactly where the loader would accept it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { Engine } from '../../server/facts/duckdb/engine.ts';
import { macrosOf } from '../../server/load/column-types.ts';
import { FACTS } from '../../server/load/fact-tables.ts';
import type { AnalyticsRow } from '../../server/providers/search-console/search-analytics.ts';
import { appearanceQuery, queriesOf } from '../../server/sync/requests.ts';
import { SYNC_TABLES, type SyncTable } from '../../server/sync/tables.ts';
import { temporaryFolder } from '../world.ts';

const PROJECT = { property: 'sc-domain:shop.example', country: null, brandTerms: [] };
const RANGE = { from: '2026-03-01', to: '2026-03-05' } as const;
const KEYWORD = { id: 'kw001', query: 'Boots' };
const MAX_BYTES = 65_536;

/** A row of the API about a table, and the fact that it stands for, right or wrong. */
interface Case {
  readonly table: SyncTable;
  readonly row: AnalyticsRow;
  readonly appearance: string;
  readonly fact: Readonly<Record<string, string>>;
}

const day = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('2026-03-01', '2026-03-04', '2026-03-05') },
  fc.constantFrom('2026-02-28', '2026-03-06', '2026-02-30', '20260301', '', '../../../other', '2026-03-01T10:00:00Z'),
);
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\u00a0', '\u3000', '\ufeff', '\u2028', 'a', 'é', '\0') }),
  fc.constantFrom('boots', 'BOOTS', 'ß', 'İ'),
  fc
    .tuple(fc.constantFrom('a', 'é', '€', '😀'), fc.integer({ min: -2, max: 2 }))
    .map(([letter, more]) => letter.repeat(Math.floor(MAX_BYTES / Buffer.byteLength(letter)) + more)),
);
const url = fc.oneof(
  text,
  fc
    .tuple(
      fc.constantFrom('https:', 'HTTP:', 'android-app:', 'a+b.c-1:', '1a:', ':', ''),
      fc.constantFrom('//', '/', ''),
      text,
    )
    .map((parts) => parts.join('')),
);
const code = fc.oneof(
  fc.constantFrom('usa', 'USA', 'zzz', 'us', 'usaa', 'u1a', 'other', 'MOBILE', 'desktop', 'Tablet', 'tv', 'ıst'),
  fc.string({ maxLength: 4 }),
);
const name = fc.oneof(
  fc.constantFrom('TRANSLATED_RESULT', 'video', '_A', '1A', 'A B', 'ß'),
  fc.string({ maxLength: 4 }),
);
const measure = fc.oneof(fc.nat(1000), fc.maxSafeNat());
const position = fc.oneof(fc.double({ min: 0, max: 100, noNaN: true }), fc.double({ min: 0, max: 1e300, noNaN: true }));

const anyCase = fc
  .record({
    table: fc.constantFrom(...SYNC_TABLES),
    day,
    text,
    url,
    code,
    name,
    clicks: measure,
    impressions: measure,
    position,
  })
  .map(({ table, day: date, code: value, name: appearance, ...given }): Case => {
    const { clicks, impressions, position: average } = given;
    const lower = value.toLowerCase();
    const shapes: Record<SyncTable, { keys: string[]; fact: Record<string, string> }> = {
      site_daily: { keys: [date, value], fact: { date, device: lower } },
      country_daily: { keys: [date, value], fact: { date, country: lower } },
      brand_daily: { keys: [date], fact: { date, segment: 'non_brand' } },
      appearance_daily: { keys: [date], fact: { date, appearance: appearance.toUpperCase() } },
      keyword_daily: { keys: [date, 'boots', value], fact: { keyword_id: KEYWORD.id, date, device: lower } },
      keyword_page_daily: { keys: [date, 'bootS', given.url], fact: { keyword_id: KEYWORD.id, date, url: given.url } },
      query_daily: { keys: [given.text, value], fact: { query: given.text, date: RANGE.from, country: lower } },
      page_daily: { keys: [given.url, value], fact: { url: given.url, date: RANGE.from, country: lower } },
    };
    const { keys, fact } = shapes[table];
    const sum = Math.max(0, Math.round((average - 1) * impressions));
    const measures = { clicks: String(clicks), impressions: String(impressions), sum_position: String(sum) };
    const row = { keys, clicks, impressions, position: average };
    return { table, row, appearance, fact: { project_id: 'Proj1', ...fact, ...measures } };
  });

/** The facts that the sync makes of a row. */
function factsOf({ table, row, appearance }: Case): object[] {
  const asked = { ...RANGE, table, dataState: 'final', keywords: [KEYWORD] } as const;
  const query =
    table === 'appearance_daily' ? appearanceQuery(PROJECT, asked, appearance) : queriesOf(PROJECT, asked)[0]![0];
  return query?.toFacts(row) ?? [];
}

t.test('a value is a fact to the sync where it is one to a load that trusts nobody', async (t) => {
  const folder = temporaryFolder(t);
  const options = { memoryLimit: '256MB', threads: 1, temporaryFolder: join(folder, 'memory'), folders: [folder] };
  const engine = await Engine.open(options);
  t.teardown(() => engine.close());
  using session = await engine.session();
  const columnsOf = (table: SyncTable) => FACTS.find((schema) => schema.name === table)!.columns;
  await engine.define(macrosOf(SYNC_TABLES.flatMap((table) => columnsOf(table).map(({ type }) => type))));
  const seen = { taken: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(anyCase, { minLength: 200, maxLength: 200 }), async (cases) => {
      for (const [table, all] of Map.groupBy(cases, (one) => one.table)) {
        const file = join(folder, 'rows.ndjson');
        writeFileSync(file, all.map(({ fact }) => `${JSON.stringify(fact)}\n`).join(''));
        const columns = columnsOf(table);
        const names = columns.map((column) => `"${column.name}": 'varchar'`).join(', ');
        const right = columns.map((column) => `${column.type.cast(`"${column.name}"`)} is not null`).join(' and ');
        const loaded = await session.rows<{ right: boolean }>(
          `select ${right} as "right" from read_ndjson($file, columns = {${names}})`,
          { file },
        );
        for (const [index, one] of all.entries()) {
          const isAsked = one.fact['date']! >= RANGE.from && one.fact['date']! <= RANGE.to;
          const isFact = loaded[index]!.right && isAsked;
          const taken = factsOf(one).length === 1;
          if (taken !== isFact)
            throw new Error(`${taken ? 'taken' : 'left out'}: ${JSON.stringify(one).slice(0, 300)}`);
          seen[taken ? 'taken' : 'refused']++;
        }
      }
    }),
    { numRuns: 20 },
  );
  t.ok(seen.taken > 500 && seen.refused > 500, `${seen.taken} values taken, ${seen.refused} refused`);
});
