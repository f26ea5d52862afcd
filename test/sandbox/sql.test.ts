// Keys with the scope sql ask by SELECT statements, and no statement reads, writes or shows anything else.
import { test } from 'tap';
import { createKey } from '../../server/operations/keys.ts';
import { clientMessage } from '../../server/sandbox/client-message.ts';
import { SANDBOX_TABLES } from '../../server/sandbox/project-content.ts';
import { guideBlock } from '../docs/blocks.ts';
import { runScript } from '../shell.ts';
import { makeWorld, WORKSPACE } from '../world.ts';

import { HOSTILE } from './hostile-statements.ts';
import { FACTS, on, poster } from './sql-world.ts';

test('days of keywords before the history of the plan are not visible', async (t) => {
  const of = { project_id: 'Proj1', keyword_id: 'Kw001', impressions: 30, sum_position: 30 };
  const days = ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02'];
  const url = 'https://example.com/';
  const world = await makeWorld(
    t,
    {
      ...FACTS,
      workspaces: [{ ...WORKSPACE, keyword_history_days: 3 }],
      keyword_daily: days.map((date, clicks) => ({ ...of, date, device: 'desktop', clicks })),
      keyword_page_daily: days.map((date, clicks) => ({ ...of, date, url, clicks })),
    },
    on,
  );
  const post = await poster(world);
  for (const table of ['keyword_daily', 'keyword_page_daily']) {
    const { body, text } = await post({ sql: `select date from ${table} order by clicks` });
    t.strictSame(
      body.rows,
      days.slice(1).map((date) => ({ date })),
      text,
    );
  }
  const { body } = await world.get('/projects/Proj1/keywords?period=486d&daily=1');
  t.strictSame(
    body.keywords[0].daily.map(({ date }: { date: string }) => date),
    days.slice(1),
    'as in the API',
  );
  t.match((await post({ sql: 'select count(*) as n from site_daily' })).body.rows, [{ n: 2 }], 'other tables have all');
});

test('SQL reads the rows of the project', async (t) => {
  const world = await makeWorld(t, FACTS, on);
  const post = await poster(world);

  for (const [sql, expected, parameters] of [
    [
      'select sum(clicks) as clicks, ctr(sum(clicks), sum(impressions)) as ctr, avg_position(sum(sum_position), sum(impressions)) as "position" from site_daily',
      { clicks: 15, ctr: 0.075, position: 2.5 },
    ],
    ['select "position"(sum(sum_position), sum(impressions)) as p from site_daily', { p: 2.5 }],
    [
      'select k.query, k.tags, d.date, d.clicks from keyword_daily d join keywords k on k.id = d.keyword_id -- all',
      { query: 'red shoes', tags: ['top'], date: '2026-03-01', clicks: 3 },
    ],
    ['select device from site_daily where clicks > $least order by device', { device: 'desktop' }, { least: 7 }],
    ['select ?::int + ? as sum', { sum: 3 }, [1, 2]],
  ] as const) {
    const { body, text } = await post({ sql, ...(parameters && { parameters }) });
    t.strictSame(body.rows, [expected], text);
  }

  const kinds = await post({
    sql: "select 9007199254740991 as most, -9007199254740991 as least, 1.10::decimal(9, 2) as part, 'NaN'::double as none, [date '2026-03-01'] as days, {a: 1} as s, map {'k': 2} as m, true as yes, null as nothing",
  });
  const days = ['2026-03-01'];
  const exact = { most: 9007199254740991, least: -9007199254740991, part: 1.1, none: null, days };
  t.strictSame(kinds.body.rows, [{ ...exact, s: { a: 1 }, m: [{ key: 'k', value: 2 }], yes: true, nothing: null }]);
  for (const large of ['9007199254740992', '[1, -9007199254740992]']) {
    const { status, body } = await post({ sql: `select ${large} as n` });
    t.match(
      { status, ...body.error },
      { status: 400, message: /^'n' has -?9007199254740992, which is too large/ },
      large,
    );
  }

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

test('a semicolon may end the statement, wherever else there are some', async (t) => {
  const world = await makeWorld(t, FACTS, on);
  const post = await poster(world);
  for (const [sql, n] of [
    ['select 1 as n;', 1],
    ['select 2 as n ; ; -- the end; or not\n', 2],
    ["select 'a; --b' as n; /* ; */", 'a; --b'],
    ["select ';' as n -- ;", ';'],
  ] as const) {
    const { body, text } = await post({ sql });
    t.strictSame(body.rows, [{ n }], `${sql}: ${text}`);
  }
  for (const sql of ['select 1; select 2', 'select 1; select 2;', ';', 'select 1 as n) t; --', "select 1;'"]) {
    t.match(await post({ sql }), { status: 400, body: { error: { code: 'invalid_request' } } }, sql);
  }
});

test('errors have the words of DuckDB, and neither its stack nor paths or addresses', async (t) => {
  const world = await makeWorld(t, FACTS, on);
  const post = await poster(world);
  for (const sql of [
    'select reservoir_quantile(1, 0.5, 1000000000)',
    'select reservoir_quantile(clicks, 0.5, 1000000000) from site_daily',
    "select * from read_csv('/home/someone/else.csv')",
    'select no_such from site_daily',
    "select '2026-13-01'::date from site_daily",
  ]) {
    const { status, body } = await post({ sql });
    t.match({ status, ...body.error }, { status: 400, code: 'invalid_request' }, sql);
    t.notMatch(
      body.error!.message,
      /stack trace|0x[0-9a-f]{4}|node_modules|\.so\b|\.node\b|assertion/i,
      body.error!.message,
    );
  }
  const own = await post({ sql: "select 'a/b/c'::int as own, 0xabcd" });
  t.match(own.body.error!.message, "'a/b/c'", 'what the client wrote stays');
  t.equal(
    clientMessage('INTERNAL Error: lost /srv/data/x.parquet at 0x7f00aa\n\nStack Trace:\n\n/usr/lib/x.so(+0x12)', {
      sql: 'select 1',
      folder: '/srv/data',
    }),
    'INTERNAL Error: lost x.parquet at …',
  );
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

test('the process of a statement is killed when its client leaves, and when the server stops', async (t) => {
  const world = await makeWorld(t, FACTS, on);
  const { key } = await createKey(world.catalog, { workspace: 'acme', name: 'sql', at: 0, scope: 'sql' });
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
  const { sql: endless } = HOSTILE.find(({ outcome }) => outcome === 'stopped by the time')!;
  const leaving = new AbortController();
  const left = [1, 2].map(() => t.rejects(ask(endless, leaving.signal)));
  // This one waits for a slot, which the others hold until their processes have ended.
  const third = ask('select 1').then((status) => [status, leaving.signal.aborted]);
  // With seven more, as many wait as may.
  left.push(...Array.from({ length: 7 }, () => t.rejects(ask('select 1', leaving.signal))));
  const refused = ask('select 1');
  setTimeout(() => leaving.abort(), 500);
  await Promise.all(left);
  t.equal(await refused, 429);
  t.strictSame(await third, [200, true], 'far earlier than the statements would be stopped');
  const last = ask(endless).catch(() => 503);
  setTimeout(() => void world.app.close(), 500);
  t.equal(await last, 503);
  await world.app.close();
});
