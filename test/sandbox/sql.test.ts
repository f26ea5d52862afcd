// Keys with the scope sql ask by SELECT statements, and no statement reads, writes or shows anything else.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { createKey } from '../../server/catalog/keys.ts';
import { SANDBOX_TABLES } from '../../server/sandbox/project-content.ts';
import { guideBlock } from '../docs/blocks.ts';
import { runScript } from '../shell.ts';
import { makeWorld, type World } from '../world.ts';
import { BOMBS, HARMLESS, REFUSED } from './hostile.ts';

const FACTS = {
  projects: [
    {
      id: 'Proj1',
      workspace_id: 'acme',
      domain: 'example.com',
      property: 'sc-domain:example.com',
      synced_through: '2026-03-02',
      created_at: '2026-01-01T00:00:00Z',
    },
    {
      id: 'Proj2',
      workspace_id: 'acme',
      domain: 'secret.example',
      property: 'sc-domain:secret.example',
      synced_through: '2026-03-02',
      created_at: '2026-01-01T00:00:00Z',
    },
  ],
  keywords: [
    { project_id: 'Proj1', id: 'Kw001', query: 'red shoes', tracked_since: '2026-01-01T00:00:00Z', tags: '["top"]' },
    { project_id: 'Proj2', id: 'Kw001', query: 'confidential', tracked_since: '2026-01-01T00:00:00Z' },
  ],
  site_daily: [
    { project_id: 'Proj1', date: '2026-03-01', device: 'desktop', clicks: 10, impressions: 100, sum_position: 250 },
    { project_id: 'Proj1', date: '2026-03-02', device: 'mobile', clicks: 5, impressions: 100, sum_position: 50 },
    { project_id: 'Proj2', date: '2026-03-01', device: 'desktop', clicks: 777, impressions: 999, sum_position: 0 },
  ],
  keyword_daily: [
    {
      project_id: 'Proj1',
      keyword_id: 'Kw001',
      date: '2026-03-01',
      device: 'desktop',
      clicks: 3,
      impressions: 30,
      sum_position: 30,
    },
  ],
};

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: {
    error?: { code: string; message: string };
    rows?: object[];
    columns?: object[];
    truncated?: boolean;
  };
}

async function poster(world: World, scope: 'sql' | null = 'sql', projects: string[] | null = null) {
  const made = await createKey(world.catalog, {
    workspace: 'acme',
    name: `sql ${Math.random()}`,
    by: null,
    at: 0,
    scope,
    projects,
  });
  return async (body: object, project = 'Proj1'): Promise<Answer> => {
    const response = await world.app.inject({
      method: 'POST',
      url: `/api/v1/projects/${project}/sql`,
      headers: { authorization: `Bearer ${made.key}`, 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });
    return { status: response.statusCode, text: response.body, body: JSON.parse(response.body) as Answer['body'] };
  };
}

const on = { environment: { ORDINATE_SQL: 'on' } };

test('SQL reads the rows of the project', async (t) => {
  const world = await makeWorld(t, FACTS, on);
  const post = await poster(world);

  const sums = await post({
    sql: 'select sum(clicks) as clicks, ctr(sum(clicks), sum(impressions)) as ctr, avg_position(sum(sum_position), sum(impressions)) as "position" from site_daily',
  });
  t.strictSame(sums.body.rows, [{ clicks: 15, ctr: 0.075, position: 2.5 }], sums.text);

  const joined = await post({
    sql: 'select k.query, k.tags, d.date, d.clicks from keyword_daily d join keywords k on k.id = d.keyword_id -- all',
  });
  t.strictSame(joined.body.rows, [{ query: 'red shoes', tags: ['top'], date: '2026-03-01', clicks: 3 }], joined.text);

  const bound = await post({
    sql: 'select device from site_daily where clicks > $least order by device',
    parameters: { least: 7 },
  });
  t.strictSame(bound.body.rows, [{ device: 'desktop' }], bound.text);
  const placed = await post({ sql: 'select ?::int + ? as sum', parameters: [1, 2] });
  t.strictSame(placed.body.rows, [{ sum: 3 }], placed.text);

  const cut = await post({ sql: 'select range as n from range(100) order by n desc', limit: 2 });
  t.match(
    cut.body,
    { truncated: true, rows: [{ n: 99 }, { n: 98 }], columns: [{ name: 'n', type: 'BIGINT' }] },
    cut.text,
  );
  const whole = await post({ sql: 'select 1 as n', limit: 1 });
  t.match(whole.body, { truncated: false, rows: [{ n: 1 }] });
  const many = await post({ sql: 'select range as n from range(1000000)' });
  t.equal(many.body.rows!.length, 50_000);
  t.equal(many.body.truncated, true);
  const counts = SANDBOX_TABLES.map(({ name }) => `(select count(*) from ${name}) as ${name}`);
  const counted = await post({ sql: `select ${counts.join(', ')}` });
  t.match(counted.body.rows, [{ projects: 1, keywords: 1, notes: 0, site_daily: 2, page_daily: 0 }], counted.text);
  const empty = await post({ sql: 'select * from brand_daily' });
  t.match(empty.body, { rows: [], truncated: false }, empty.text);
  const late = await post({ sql: "select case when range = 40000 then error('late') end as n from range(50000)" });
  t.match(late, { status: 400, body: { error: { message: /late/ } } }, 'an error in a late row is an error');
});

test('who may use SQL', async (t) => {
  const world = await makeWorld(t, FACTS, on);
  t.match(await (await poster(world, null))({ sql: 'select 1' }), {
    status: 403,
    body: { error: { code: 'scope_required' } },
  });
  const limited = await poster(world, 'sql', ['Proj1']);
  t.equal((await limited({ sql: 'select 1' })).status, 200);
  t.equal((await limited({ sql: 'select 1' }, 'Proj2')).status, 404);
  for (const body of [
    {},
    { sql: '' },
    { sql: 1 },
    { sql: 'select 1', limit: 0 },
    { sql: 'select 1', more: 1 },
    { sql: 'select $a', parameters: { a: [] } },
  ]) {
    t.match(await limited(body), { status: 400, body: { error: { code: 'invalid_request' } } }, JSON.stringify(body));
  }
  const off = await makeWorld(t, FACTS);
  t.equal((await (await poster(off))({ sql: 'select 1' })).status, 404);
});

for (const [name, status, statements, limits] of [
  ['are refused', 400, REFUSED, {}],
  ['are harmless', 200, HARMLESS, {}],
  ['are stopped', 400, BOMBS, { statement: 2000 }],
] as const) {
  test(`hostile statements ${name}`, async (t) => {
    const world = await makeWorld(t, FACTS, { ...on, limits });
    // Each key may send 120 requests per minute.
    const posts = await Promise.all([1, 2, 3].map(() => poster(world)));
    const before = contentOf(world.dataFolder);
    // Each takes half a second of a processor. ORDINATE_TEST_HOSTILE=all tries all of them.
    const step = process.env['ORDINATE_TEST_HOSTILE'] === 'all' ? 1 : 8;
    const left = statements.filter((_, index) => index % step === 0);
    const next = async (): Promise<void> => {
      for (let one = left.pop(); one !== undefined; one = left.pop()) {
        const sql = one.sql.replaceAll('{data}', world.dataFolder);
        const found = await posts[left.length % posts.length]!({ sql });
        const what = sql.slice(0, 120);
        t.equal(found.status, status, `${what}: ${found.text.slice(0, 300)}`);
        t.notMatch(found.text, /777|confidential|secret\.example|root:x:|libduckdb|node_modules/, what);
        t.notOk(found.text.includes(world.dataFolder) && !sql.includes(world.dataFolder), `${what}: no path`);
      }
    };
    // Two at a time, as a workspace may.
    await Promise.all([next(), next()]);
    t.strictSame(contentOf(world.dataFolder), before, 'nothing is written');
    t.notOk(
      world.log.some((line) => line.includes('read_text')),
      'statements are not logged',
    );
  });
}

test('the process of a statement is killed when its client leaves, and when the server stops', async (t) => {
  const world = await makeWorld(t, FACTS, { ...on, limits: { statement: 60_000 } });
  const { key } = await createKey(world.catalog, { workspace: 'acme', name: 'sql', by: null, at: 0, scope: 'sql' });
  const address = await world.app.listen({ port: 0 });
  const ask = async (sql: string, signal?: AbortSignal): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify({ sql }), ...(signal && { signal }) };
    return (await fetch(`${address}/api/v1/projects/Proj1/sql`, request)).status;
  };
  const documented = guideBlock('sql', 'ask').replaceAll('http://127.0.0.1:3000', address).replaceAll('Fw7kd', 'Proj1');
  const printed = await runScript(documented, world.dataFolder, { ...process.env, KEY: key });
  t.match(JSON.parse(printed), { rows: [{ device: 'desktop', clicks: 10, ctr: 0.1 }, { device: 'mobile' }] }, printed);
  const create = guideBlock('sql', 'create').replaceAll('--workspace demo', '--workspace acme');
  t.match(await runScript(create, world.dataFolder, { ORDINATE_DATA: world.dataFolder }), /ord_live_/);
  const endless = BOMBS[0]!.sql;
  const leaving = new AbortController();
  const left = [1, 2].map(() => t.rejects(ask(endless, leaving.signal)));
  // This one waits for a slot, which the others hold until their processes have ended.
  const third = ask('select 1');
  setTimeout(() => leaving.abort(), 500);
  await Promise.all(left);
  t.equal(await third, 200, 'far earlier than the statements would be stopped');
  const last = ask(endless).catch(() => 503);
  setTimeout(() => void world.app.close(), 500);
  t.equal(await last, 503);
  await world.app.close();
});

test('two hundred hostile statements are tried', async (t) => {
  t.ok(REFUSED.length + HARMLESS.length + BOMBS.length >= 200);
});

/** The hashes of all fact files. */
function contentOf(folder: string): Record<string, string> {
  const names = readdirSync(join(folder, 'facts'), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    names.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path, createHash('sha256').update(readFileSync(path)).digest('hex')] as const;
    }),
  );
}
