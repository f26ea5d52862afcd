// Every example in the documentation equals the answer of the server.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { ROUTES } from '../server/api/api.ts';
import { createKey } from '../server/catalog/keys.ts';
import { facts, keyword, makeWorld, PROJECT, type Row, WORKSPACE } from './world.ts';

// Sends the requests of the documentation's examples. `UPDATE_EXAMPLES=1 npm test test/examples.test.ts` updates the examples.
const FILE = join(import.meta.dirname, '../server/api/routes/examples.json');

const uuid = (last: number) => `5e1f0000-0000-4000-8000-00000000000${last}`;

const TABLES: Readonly<Record<string, Row[]>> = {
  workspaces: [WORKSPACE, { id: 'small', name: 'Small', plan: 'free', keyword_history_days: 30 }],
  projects: [PROJECT, { ...PROJECT, id: 'Proj2', domain: 'new.example', property: 'https://new.example/' }],
  keywords: [
    keyword('Kw001', 'acme boots', { source: 'manual' }),
    keyword('Kw002', 'best walking boots', { source: 'suggested' }),
  ],
  groups: [
    { project_id: 'Proj1', id: 'Fold1', name: 'Footwear', kind: 'folder', position: 0, pinned: true },
    { project_id: 'Proj1', id: 'Boots', name: 'Boots', kind: 'manual', parent_id: 'Fold1', position: 1 },
    {
      project_id: 'Proj1',
      id: 'TopTn',
      name: 'First page',
      kind: 'rule',
      parent_id: 'Fold1',
      position: 2,
      rule: { match: 'all', conditions: [{ field: 'position', op: 'lte', value: 10 }] },
    },
  ],
  group_members: [{ project_id: 'Proj1', group_id: 'Boots', keyword_id: 'Kw002' }],
  page_groups: [
    {
      project_id: 'Proj1',
      id: 'Guide',
      name: 'Guides',
      position: 0,
      rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/guides/' }] },
      pinned_urls: ['/how-to-choose'],
    },
  ],
  alerts: [
    {
      id: uuid(1),
      project_id: 'Proj1',
      type: 'keyword_drop',
      kind: 'Keyword drop',
      severity: 'warning',
      title: '"best walking boots" lost positions',
      body: 'Its average position went from 3.2 to 9.1 within a week.',
      date: '2026-03-08',
      keyword_id: 'Kw002',
      url: 'https://app.example/projects/Proj1/keywords/Kw002',
      created_at: '2026-03-09T05:00:00Z',
    },
  ],
  notes: [
    {
      id: uuid(2),
      workspace_id: 'acme',
      project_id: 'Proj1',
      scope: 'keyword',
      date: '2026-03-02',
      end_date: '2026-03-04',
      category: 'content',
      text: 'The buying guide was rewritten.',
      client_visible: true,
      author: 'Editorial team',
      keyword_id: 'Kw002',
      created_at: '2026-03-02T10:00:00Z',
      updated_at: '2026-03-02T10:00:00Z',
    },
  ],
  site_daily_image: facts(
    'date device',
    ['2026-03-09', 'mobile', 3, 240, 4100],
    ['2026-03-10', 'mobile', 5, 310, 5200],
  ),
  site_daily_discover: facts('date device', ['2026-03-10', 'unknown', 18, 900, 0]),
  site_hourly: facts(
    'date hour',
    ['2026-03-08', '2026-03-08T09:00:00Z', 2, 31, 140],
    ['2026-03-08', '2026-03-08T10:00:00Z', 1, 28, 133],
    ['2026-03-08', '2026-03-08T12:00:00Z', 4, 46, 180],
  ),
  site_daily: facts(
    'date device',
    ['2026-03-09', 'desktop', 12, 400, 4100],
    ['2026-03-09', 'mobile', 30, 900, 6300],
    ['2026-03-10', 'mobile', 25, 850, 6000],
  ),
  keyword_daily: facts(
    'keyword_id date device',
    ['Kw001', '2026-03-09', 'mobile', 9, 40, 12],
    ['Kw001', '2026-03-10', 'mobile', 7, 35, 14],
    ['Kw002', '2026-03-09', 'desktop', 2, 90, 700],
  ),
  country_daily: facts(
    'date country',
    ['2026-03-09', 'gbr', 38, 1200, 9600],
    ['2026-03-09', 'irl', 4, 100, 800],
    ['2026-03-10', 'gbr', 25, 850, 6000],
  ),
  country_monthly: facts(
    'month country',
    ['2026-02-01', 'gbr', 900, 28000, 196000],
    ['2026-02-01', 'other', 20, 700, 9100],
  ),
  appearance_daily: facts('date appearance', ['2026-03-09', 'PRODUCT_SNIPPETS', 11, 310, 1900]),
  brand_daily: facts('date segment', ['2026-03-09', 'brand', 20, 150, 60], ['2026-03-09', 'non_brand', 9, 700, 5900]),
  page_daily: facts(
    'date url country',
    ['2026-03-09', 'https://shop.example/', 'gbr', 25, 700, 2100],
    ['2026-03-09', 'https://shop.example/guides/boots', 'gbr', 9, 420, 3800],
  ),
  query_daily: facts(
    'date query country',
    ['2026-03-09', 'acme boots', 'gbr', 9, 40, 12],
    ['2026-03-09', 'best walking boots', 'gbr', 2, 90, 700],
  ),
};
/** A file as the documentation shows it: its name is another one each time, its bytes are those of this DuckDB. */
function exampleFile(file: { href: string }): object {
  const href = file.href.replace(/-[0-9a-f-]{36}\.parquet$/, '-5e1f0000-0000-4000-8000-000000000003.parquet');
  return { ...file, href, bytes: 734, sha256: '9b2c7e41'.repeat(8) };
}

t.test('every example in the documentation equals the answer of the server', async (t) => {
  const world = await makeWorld(t, TABLES);
  const free = (await createKey(world.catalog, { workspace: 'small', name: 'free', by: null, at: 0 })).key;
  const found: Record<string, Record<string, { request: string; answer: unknown }>> = {};
  for (const { path, report, examples, sendsFiles } of ROUTES) {
    if (sendsFiles === true) continue;
    const { operation } = report;
    const requests: Readonly<Record<number, string>> = examples ?? {};
    t.ok(requests[200], `${path} has an example`);
    const ok = requests[200] ?? '';
    const all = {
      ...requests,
      401: ok,
      403: ok,
      ...(ok.startsWith('/projects/') ? { 404: requests[404] ?? ok.replace('Proj1', 'Nope1') } : {}),
    };
    const answers: Record<string, { request: string; answer: unknown }> = {};
    for (const [status, request] of Object.entries(all)) {
      const headers: Record<string, Record<string, string>> = { 401: {}, 403: { authorization: `Bearer ${free}` } };
      const { status: got, body } = await world.get(request, headers[status]);
      t.equal(got, Number(status), `${operation} ${request}`);
      // What depends on the time of the request, and what is long.
      if (body.source) body.source.fetchedAt = '2026-03-15T12:00:00.000Z';
      if (body.files !== undefined) body.files = body.files.slice(0, 2).map(exampleFile);
      answers[status] = { request: `/api/v1${request}`, answer: body };
    }
    found[operation] = answers;
  }
  if (process.env['UPDATE_EXAMPLES'] === '1') {
    writeFileSync(FILE, `${JSON.stringify(found, null, 2)}\n`);
    // The document of this process has the examples of before.
    return;
  }
  const kept = JSON.parse(readFileSync(FILE, 'utf8')) as object;
  t.strictSame(
    found,
    kept,
    'the examples are the answers: `UPDATE_EXAMPLES=1 npm test test/examples.test.ts` writes them',
  );

  const document = await world.app.inject('/openapi.json');
  interface Response {
    readonly content: { 'application/json': { examples: { example: { value: unknown } } } };
  }
  const { paths, components } = document.json<{
    paths: Record<string, { get?: { operationId: string; responses: Record<string, Response & { $ref?: string }> } }>;
    components: { responses: Record<string, Response> };
  }>();
  for (const { get } of Object.values(paths)) {
    // SQL is asked by POST.
    if (get === undefined) continue;
    for (const [status, { answer }] of Object.entries(found[get.operationId] ?? {})) {
      const { $ref, ...own } = get.responses[status]!;
      // Errors are shared, and so is the example of one operation.
      const response = $ref === undefined ? own : components.responses[$ref.split('/').at(-1)!]!;
      const shown = response.content['application/json'].examples.example.value;
      const answers = $ref === undefined ? [answer] : Object.values(found).map((all) => all[status]?.answer);
      t.ok(
        answers.some((one) => isDeepStrictEqual(one, shown)),
        `${get.operationId} ${status}`,
      );
    }
  }
});
