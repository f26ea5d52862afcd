import fc from 'fast-check';
import t from 'tap';
import { csv } from '../../server/formats/csv.ts';
import type { Rows } from '../../server/formats/rows.ts';
import { facts, keyword, makeWorld } from '../world.ts';

async function write(rows: Rows): Promise<string[]> {
  const parts: string[] = [];
  for await (const part of csv.write(rows)) parts.push(part.toString());
  return parts;
}

/** Parses CSV: fields by line. */
function parse(text: string): string[][] {
  const lines: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/gy)) {
    if (end === '' && plain === '' && quoted === undefined) break;
    lines.at(-1)!.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '\r\n') lines.push([]);
  }
  return lines.slice(0, -1);
}

t.test('all texts survive, and none is a formula', async (t) => {
  const text = fc.string({ unit: fc.oneof(fc.constantFrom('"', ',', '\r', '\n', '=', '+', '-', '@', '\t', 'a', 'é')) });
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 20 }), async (texts) => {
      const batch = { length: texts.length, cells: [(row: number) => texts[row]!, (row: number) => row] };
      const columns = [
        { name: 'query', type: 'text' },
        { name: 'clicks', type: 'count' },
      ] as const;
      const lines = parse((await write({ columns, batches: [batch] })).join(''));
      t.strictSame(lines, [
        ['query', 'clicks'],
        ...texts.map((value, row) => [/^[=+\-@\t\r]/.test(value) ? `'${value}` : value, String(row)]),
      ]);
    }),
  );
});

t.test('batches are made on demand, and written in chunks', async (t) => {
  let made = 0;
  const batches = (function* () {
    for (; made < 40; made++) yield { length: 1000, cells: [() => 'some words of a query', () => null] };
  })();
  const columns = [
    { name: 'query', type: 'text' },
    { name: 'position', type: 'ratio' },
  ] as const;
  const parts = csv.write({ columns, batches });
  const first = await parts.next();
  t.ok(made <= 4, 'a part needs no more than its own batches');
  let text = String(first.value);
  for await (const part of parts) text += part.toString();
  t.equal(text.length, 'query,position\r\n'.length + 40_000 * 'some words of a query,\r\n'.length);
});

const TABLES = {
  keywords: [
    keyword('Kw001', '=cmd("x")'),
    keyword('Kw002', 'walking, "boots"', { source: 'suggested' }),
    keyword('Kw003', 'without data'),
  ],
  groups: [
    { project_id: 'Proj1', id: 'Boots', name: 'Boots', kind: 'manual', position: 0 },
    { project_id: 'Proj1', id: 'Other', name: 'Other', kind: 'manual', position: 1 },
  ],
  group_members: ['Boots', 'Other'].map((group) => ({ project_id: 'Proj1', group_id: group, keyword_id: 'Kw002' })),
  keyword_daily: facts(
    'keyword_id date device',
    ['Kw001', '2026-03-09', 'mobile', 1, 32, 64],
    ['Kw002', '2026-03-08', 'mobile', 2, 10, 5],
    ['Kw002', '2026-03-10', 'desktop', 0, 0, 0],
  ),
};

t.test('keywords as flat rows, with the option that selects a format', async (t) => {
  const world = await makeWorld(t, TABLES, { rowFormat: () => csv });
  const ask = async (path: string) => {
    const headers = { authorization: `Bearer ${world.key}` };
    const {
      statusCode,
      headers: sent,
      body,
    } = await world.app.inject({ url: `/api/v1/projects/Proj1${path}`, headers });
    return { status: statusCode, type: sent['content-type'], lines: parse(body) };
  };
  t.strictSame(await ask('/keywords?period=7d&daily=1'), {
    status: 200,
    type: 'text/csv; charset=utf-8',
    lines: [
      ['id', 'query', 'date', 'clicks', 'impressions', 'ctr', 'position'],
      ['Kw001', '\'=cmd("x")', '2026-03-09', '1', '32', '0.0313', '3'],
      ['Kw002', 'walking, "boots"', '2026-03-08', '2', '10', '0.2', '1.5'],
      ['Kw002', 'walking, "boots"', '2026-03-10', '0', '0', '', ''],
    ],
  });
  const since = '2025-01-05T00:00:00.000Z';
  t.strictSame((await ask('/keywords?period=7d')).lines, [
    ['id', 'query', 'source', 'trackedSince', 'intent', 'groupIds', 'clicks', 'impressions', 'ctr', 'position'],
    ['Kw001', '\'=cmd("x")', 'import', since, 'unclassified', '', '1', '32', '0.0313', '3'],
    ['Kw002', 'walking, "boots"', 'suggested', since, 'unclassified', 'Boots Other', '2', '10', '0.2', '1.5'],
    ['Kw003', 'without data', 'import', since, 'unclassified', '', '0', '0', '', ''],
  ]);
  const refused = await world.get('/projects/Proj1/keywords?daily=1&limit=0');
  t.match(refused, { status: 400, headers: { 'content-type': 'application/json; charset=utf-8' } });
});

t.test('the API always answers JSON, whatever a client accepts', async (t) => {
  const world = await makeWorld(t, TABLES);
  const { headers, body } = await world.get('/projects/Proj1/keywords?daily=1', {
    authorization: `Bearer ${world.key}`,
    accept: 'text/csv',
  });
  t.equal(headers['content-type'], 'application/json; charset=utf-8');
  t.equal(body.keywords.length, 3);
});
