// The guide's conditions in SQL choose the rows that the same conditions of questions choose.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../readme.ts';
import { facts, makeWorld } from '../world.ts';
import { on, poster } from './sql-world.ts';

const QUERIES = ['Red Shoes', 'red shoes', 'red boots', 'blue shoe', 'hats', 'shoes red'];
const world = await makeWorld(
  t,
  {
    site_daily: facts('date device', ['2026-03-01', 'mobile', 90, 900, 0]),
    query_daily: facts(
      'query date country',
      ...QUERIES.map((query, at) => [query, '2026-03-01', 'usa', 2 * at + 1, 30 + at, 0]),
    ),
  },
  on,
);
const post = await poster(world);
const table = /## Conditions\n([\s\S]*?)\n## /.exec(readFileSync(join(ROOT, 'docs/sql.md'), 'utf8'))![1]!;
const pairs = [...table.matchAll(/^\| `(\[.*\])` \| `(.*)` \|$/gm)];
t.ok(pairs.length > 5, 'the table is read');

for (const [, condition, sql] of pairs) {
  t.test(condition!, async (t) => {
    const question = {
      range: { from: '2026-03-01', to: '2026-03-01' },
      dimensions: ['query'],
      filters: [JSON.parse(condition!)],
      sort: ['query'],
    };
    const { body } = await world.ask(`/query?q=${encodeURIComponent(JSON.stringify(question))}`);
    const asked = (body as { rows: { query: string }[] }).rows.map(({ query }) => query);
    const [where, having] = sql!.startsWith('having') ? ['', sql] : [sql, ''];
    const selected = await post({
      sql: `select query from query_daily ${where} group by query ${having} order by query`,
    });
    const rows = (selected.body.rows as { query: string }[]).map(({ query }) => query);
    t.strictSame(rows, asked);
    t.ok(asked.length > 0 && asked.length < QUERIES.length, 'it chooses some');
  });
}
