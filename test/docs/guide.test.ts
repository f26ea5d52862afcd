// Every block of code in the guide works as printed.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import t from 'tap';
import { addDays } from '../../server/domain/dates.ts';
import { ROOT } from '../readme.ts';
import { runScript } from '../shell.ts';
import { type Answer, makeWorld, PROJECT, type Row, temporaryFolder, WORKSPACE } from '../world.ts';
import { guideBlock, guideBlocks, triedBlocks } from './blocks.ts';

// Runs every block of code in the guide against a server with the ids of the demo.
const run = promisify(execFile);

const ID = 'Fw7kd';
const DAYS = Array.from({ length: 60 }, (_, index) => addDays('2026-01-10', index));
const fact = (row: Row): Row => ({ project_id: ID, clicks: 20, impressions: 200, sum_position: 900, ...row });
const { app, key, catalog, dataFolder, get } = await makeWorld(
  t,
  {
    workspaces: [{ ...WORKSPACE, plan: 'agency' }],
    projects: [{ ...PROJECT, id: ID }],
    keywords: ['red shoes', 'acme boots'].map((query, index) => ({
      project_id: ID,
      id: `kw00${index}`,
      query,
      tracked_since: '2025-01-05T00:00:00Z',
    })),
    site_daily: DAYS.map((date) => fact({ date, device: 'mobile' })),
    keyword_daily: DAYS.map((date) => fact({ date, device: 'mobile', keyword_id: 'kw000' })),
    query_daily: DAYS.flatMap((date) =>
      ['red shoes', 'acme boots'].map((query) => fact({ date, query, country: 'usa' })),
    ),
  },
  { now: Date.now, environment: { ORDINATE_FEEDS: 'on' } },
);
const address = await app.listen({ port: 0 });
const folder = temporaryFolder(t);
const environment = { ...process.env, KEY: key, ORDINATE_DATA: dataFolder };

/** A block of the guide that asks this server. */
const here = (page: string, name: string): string =>
  guideBlock(page, name)
    .replaceAll('http://127.0.0.1:3000', address)
    .replaceAll('--workspace demo', '--workspace acme');

/** Runs a block as a shell script. */
const shell = (script: string): Promise<string> => runScript(script, folder, environment);

const linesOf = (file: string): string[] => readFileSync(join(folder, file), 'utf8').trimEnd().split('\r\n');

t.test('a deploy writes a note, and the list has the verdict on it', async (t) => {
  const printed = await shell(here('index', 'deploy'));
  t.match(printed, /^Note \S+ was added\.$/m);
  t.match(printed, /Shorter titles .*not_comparable +Not comparable: the project stores no days of these pages/);
});

t.test('the start of the guide: a change, explained', async (t) => {
  const { change, parts, rows } = JSON.parse(await shell(here('index', 'explain'))) as Record<string, Row>;
  t.match(change, { clicks: { now: Number, base: Number, difference: Number } });
  t.match([parts, rows], [{ notAttributed: Number }, [{ query: String }, { query: String }]]);
});

t.test('spreadsheets: files', async (t) => {
  await shell(here('spreadsheets', 'file'));
  const [head = '', ...rows] = linesOf('keywords.csv');
  t.equal(head, '\uFEFFid,query,source,trackedSince,intent,groupIds,clicks,impressions,ctr,position');
  t.equal(rows.length, 2);
  await shell(here('spreadsheets', 'days'));
  t.equal(linesOf('days.csv').length, 29, 'a day of the one keyword that has data in each line');
});

t.test('spreadsheets: a feed', async (t) => {
  const keyId = (await catalog.statements.all<{ id: string }>('keys.of_workspace', { workspace: 'acme' }))[0]!.id;
  const out = await shell(here('spreadsheets', 'feed').replace('KEY_ID', keyId));
  const [, path = ''] = /https:\/\/ordinate\.example\.com(\/feeds\/ord_feed_\w+\.csv)/.exec(out) ?? [];
  const { body, statusCode } = await app.inject(path);
  t.equal(statusCode, 200);
  t.match(body, /^date,clicks,impressions,ctr,position\r\n/);
  const formula = guideBlock('spreadsheets', 'sheets').trim();
  t.equal(
    formula.replace('ord_feed_....csv', path.split('/').at(-1)!),
    `=IMPORTDATA("https://ordinate.example.com${path}")`,
  );
});

t.test('spreadsheets: the columns that the Power Query expects', async (t) => {
  const query = guideBlock('spreadsheets', 'site');
  const [, path] = /RelativePath = "([^"]+)"/.exec(query) ?? [];
  const [, period] = /Query = \[period = "(\w+)"\]/.exec(query) ?? [];
  const typed = [...query.matchAll(/\{"(\w+)", /g)].map(([, name]) => name);
  const { body } = await app.inject({ url: `/${path}?period=${period}`, headers: { authorization: `Bearer ${key}` } });
  t.strictSame(body.split('\r\n')[0]?.split(','), typed);
  t.match(query, 'Headers = [Authorization = "Bearer " & Key]');
});

t.test('every recipe with a comparison ends with a final day, so that changes have ratios', async (t) => {
  const pages = ['agents', 'bi', 'notebooks', 'programs', 'spreadsheets'];
  const texts = pages.map((page) => readFileSync(join(ROOT, `docs/${page}.md`), 'utf8'));
  const lines = texts.join('\n').split('\n');
  const compared = lines.filter((line) => /\bcompare(=|: ')/.test(line));
  t.ok(compared.length >= 4);
  for (const line of compared) t.match(line, /\bto(=final|: 'final')/);
  const paths = compared.flatMap((line) => /\/portfolio[^'`"\s]*compare=previous[^'`"\s]*/.exec(line) ?? []);
  t.equal(paths.length, 2);
  for (const path of paths) {
    const { status, body } = await get(path.replace('.csv', ''));
    t.match(
      { status, body },
      { status: 200, body: { projects: [{ totals: { change: { clicks: { ratio: 0 } } } }] } },
      path,
    );
  }
});

/** The Python with which notebooks are tried: `npm run test:clients` names one that has their packages. */
const PYTHON = process.env['TEST_PYTHON'] ?? 'python3';

/** What must hold after a block, and the packages that it needs. */
const NOTEBOOKS = {
  pandas: ['pandas', 'len(weekly) >= 8 and weekly["clicks"].sum() == 1200'],
  parquet: ['pandas pyarrow', 'len(monthly) == 3 and abs(monthly["position"].iloc[0] - 5.5) < 1e-9'],
  polars: ['polars', 'top["clicks"].to_list() == [1200]'],
  'polars-json': ['polars', 'queries["position"].to_list() == [5.5, 5.5] and str(queries.schema["ctr"]) == "Float64"'],
  duckdb: ['duckdb', 'top == [("red shoes", 1200, 5.5)]'],
  snapshot: ['pandas pyarrow fsspec aiohttp', 'len(clicks) == 60 and clicks.sum() == 1200'],
  portfolio: [
    'pandas',
    'losers["clicks"].tolist() == [1140] and by_project["shop.example"].sum() == 1200 and len(by_project) == 60',
  ],
} as const;
for (const [name, [packages, check]] of Object.entries(NOTEBOOKS)) {
  t.test(`notebooks: ${name}`, async (t) => {
    const code = `${here('notebooks', 'setup')}\n${here('notebooks', name)}`;
    const imports = packages.split(' ').map((one) => `import ${one}`);
    try {
      await run(PYTHON, ['-c', imports.join('\n')]);
    } catch {
      t.pass('not run', { skip: `${PYTHON} has not all of ${packages}` });
      return;
    }
    // Some packages abort now and then when the interpreter ends their threads.
    const end = 'print("done", flush=True)\nos._exit(0)';
    const program = `${code}\nassert ${check}, locals()\n${end}`;
    const { stdout } = await run(PYTHON, ['-c', program], { cwd: folder, env: environment });
    t.equal(stdout, 'done\n');
  });
}

interface Panel {
  readonly url: string;
  readonly root_selector: string;
  readonly columns: readonly { readonly selector: string; readonly type: string }[];
}

t.test('BI: the Grafana panel names what the answer has', async (t) => {
  const panel = JSON.parse(guideBlock('bi', 'panel')) as Panel;
  const source = guideBlock('bi', 'source');
  const [, server = ''] = /^ {4}url: (\S+)$/m.exec(source) ?? [];
  t.ok(panel.url.startsWith(`${server}/api/v1/`), 'the panel asks the server of the data source');
  t.match(source, `allowedHosts: ["${server}"]`);
  const path = panel.url
    .replace(`${server}/api/v1`, '')
    // biome-ignore lint/suspicious/noTemplateCurlyInString: variables of Grafana
    .replace('${__from:date:YYYY-MM-DD}', '2026-03-01')
    // biome-ignore lint/suspicious/noTemplateCurlyInString: variables of Grafana
    .replace('${__to:date:YYYY-MM-DD}', '2026-03-07');
  const { status, body }: Answer = await get(path);
  t.equal(status, 200);
  const rows = body[panel.root_selector] as Row[];
  t.equal(rows.length, 7);
  for (const { selector, type } of panel.columns) {
    t.type(rows[0]?.[selector], type === 'timestamp' ? 'string' : type, selector);
  }
});

t.test('BI: the views over an export, and the averages of Metabase', async (t) => {
  await shell(here('bi', 'export'));
  const connection = await (await DuckDBInstance.create()).connect();
  t.teardown(() => connection.closeSync());
  const views = guideBlock('bi', 'views').replaceAll("'facts/", `'${folder}/facts/`);
  for (const statement of views.split(';').filter((text) => text.trim() !== '')) await connection.run(statement);
  const [ctr, position] = ['ctr', 'position'].map((name) =>
    guideBlock('bi', name).replaceAll(/\[([\w ]+)\]/g, (_, column: string) => column.toLowerCase().replace(' ', '_')),
  );
  for (const [view, days] of [
    ['site', 60],
    ['keywords', 60],
  ] as const) {
    const rows = await connection.runAndReadAll(`select count(*)::int, ${ctr}, ${position} from ${view}`);
    t.strictSame(rows.getRowsJS(), [[days, 0.1, 5.5]], view);
  }
});

t.test('agents: the configuration and the tools', async (t) => {
  const { mcpServers } = JSON.parse(guideBlock('agents', 'config')) as {
    mcpServers: { ordinate: { url: string; headers: Record<string, string> } };
  };
  const { url, headers } = mcpServers.ordinate;
  const client = new Client({ name: 'test', version: '1' });
  const own = { Authorization: headers['Authorization']!.replace('ord_live_...', key) };
  const server = new URL(url.replace('http://127.0.0.1:3000', address));
  await client.connect(new StreamableHTTPClientTransport(server, { requestInit: { headers: own } }));
  const names = (await client.listTools()).tools.map(({ name }) => name);
  await client.close();
  const page = readFileSync(join(ROOT, 'docs/agents.md'), 'utf8');
  t.strictSame(
    [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name),
    names,
  );
  const answer = await shell(here('agents', 'tools'));
  for (const name of names) t.match(answer, `"name":"${name}"`);
});

t.test('programs: TypeScript', async (t) => {
  const file = join(folder, 'client.ts');
  const client = pathToFileURL(join(ROOT, 'client/client.ts')).href;
  writeFileSync(file, here('programs', 'client').replace('ordinate-client', client));
  const { stdout } = await run(process.execPath, [file], { env: environment });
  t.equal(stdout, 'shop.example 0 1200 60\n560\n400 invalid_request\n');
});

t.test('programs: a shell', async (t) => {
  t.equal(await shell(here('programs', 'etag')), '304\n');
  const rows = (await shell(here('programs', 'retry'))).trim().split('\n');
  t.equal((JSON.parse(rows[0]!) as { query: string }).query, 'red shoes');
});

t.test('programs: the commands of generators', async (t) => {
  // Go and Java need their own tools. test/package/clients.ts runs the command for Python.
  for (const name of ['go-client', 'java-client', 'python-client']) {
    t.match(guideBlock('programs', name), ' openapi.json', name);
  }
});

// These have test files of their own: the first three, load, operate and questions beside this one, cluster in test/cluster/, sql in test/sandbox/, dashboard's in
// test/readme.test.ts, snapshot's in test/load/.
const OTHERS = [
  'connect-google',
  'channels',
  'roles',
  'load',
  'operate',
  'questions',
  'sql',
  'cluster',
  'dashboard',
  'snapshot',
];

t.test('every block of the guide was tried', async (t) => {
  const blocks = guideBlocks().filter(({ page }) => !OTHERS.includes(page));
  t.ok(blocks.length > 15);
  for (const { page, name } of blocks) t.ok(triedBlocks.has(`${page} ${name}`), `${page}: ${name}`);
});
