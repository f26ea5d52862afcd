// Connections and lists on the command line, whose output shows no credentials, and in catalogs of older versions.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { connectionsOf, putConnection, removeConnection } from '../../server/catalog/connections.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { findPause } from '../../server/catalog/provider-pauses.ts';
import { listRetiredLists, listStoredLists, readListTotals } from '../../server/catalog/stored-lists.ts';
import { sqlNames, sqlText } from '../../server/runtime/sql.ts';
import { DATASET, fakeBigQuery, LOG_COLUMNS, SITE_COLUMNS, URL_COLUMNS } from '../fakes/bigquery.ts';
import { ordinate } from '../fakes/command-line.ts';
import { connect, connectedWorld, credentialsFile, SECRETS } from '../fakes/connected.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { temporaryFolder } from '../world.ts';

const SET = ['connections', 'set', '--project', 'Proj1', '--kind', 'search-console', '--credentials'];

t.test('connections and lists: set, listed, tested, warmed, removed', async (t) => {
  const { dataFolder, google, catalog } = await connectedWorld(t);
  const said: string[] = [];
  const run = async (...parts: readonly string[]) => {
    const { code, out, error } = await ordinate(dataFolder, ...parts);
    said.push(out, error);
    return { code, said: out + error };
  };
  const credentials = credentialsFile(t);
  google.pages = [{ key: 'https://shop.example/', clicks: 1, impressions: 2, position: 1 }];
  google.queries = [{ key: 'shop', clicks: 1, impressions: 2, position: 1 }];
  const addresses = ['--endpoint', google.url, '--token-endpoint', google.tokenUrl];
  t.match(await run(...SET, credentials, ...addresses), { code: 0, said: /connected to search-console/ });
  const works = 'Works: The reporting API can read sc-domain:shop.example.\n';
  t.match(await run('connections', 'test', '--project', 'Proj1'), { code: 0, said: works });
  const warm = ['lists', 'warm', '--project', 'Proj1', '--period'];
  const days = { from: '2026-03-08', to: '2026-03-10', source: 'gsc', rows: 1 };
  const lists = JSON.parse((await run(...warm, '3d', '--json')).said);
  t.match(lists, [
    { kind: 'pages', ...days },
    { kind: 'queries', ...days },
  ]);

  google.failure = { how: FAILURES.forbidden, times: 3 };
  const why = /Does not work: .*sufficient permission.*\n {2}Give the identity/;
  t.match(await run('connections', 'test', '--project', 'Proj1'), { code: 1, said: why });
  const cold = /The pages could not be fetched: status 403.*sufficient permission/;
  t.match(await run(...warm, '4d'), { code: 1, said: cold });
  const status = JSON.parse((await run('lists', 'status', '--json')).said);
  t.match(status, { lists: 2, hits: 0, kept: [{ project: 'Proj1', source: 'gsc' }, { kind: /pages|queries/ }] });

  // Which of all queries and pages are stored stays, unless it is given.
  for (const [given, archive] of [
    [['--archive', 'none'], 'none'],
    [['--archive', 'pages'], 'pages'],
    [['--archive', 'queries'], 'queries'],
    [['--archive', 'pages,queries'], 'queries,pages'],
    [[], 'queries,pages'],
  ] as const) {
    await run(...SET, credentials, ...addresses, ...given);
    const shown = JSON.parse((await run('connections', 'list', '--json')).said);
    const one = { project: 'Proj1', property: 'sc-domain:shop.example', kind: 'search-console', archive };
    t.match(shown, [{ ...one, credentials, endpoint: google.url }]);
  }
  const set = SET.slice(0, 5);
  for (const [words, message] of [
    [[...SET, credentials, '--archive', 'sites'], /It must be one of: queries,pages; queries; pages; none/],
    [[...set, 'bigquery', '--dataset', DATASET, '--archive', 'none'], /--archive is for search-con/],
    [[...set, 'bigquery'], /needs --dataset PROJECT.DATASET/],
    [[...set, 'bigquery', '--dataset', 'no dataset; drop'], /needs --dataset PROJECT.DATASET.*not 'no dataset; drop'/],
    [[...SET, credentials, '--dataset', DATASET], /--dataset and --location are for bigquery/],
    [[...SET, credentials, '--endpoint', 'ftp://example.com'], /--endpoint must be an http or https address/],
    [[...SET, credentials, '--token-endpoint', 'nonsense'], /--token-endpoint must be an http or https address/],
    [['connections', 'set', '--project', 'Nope1', '--kind', 'search-console'], /There is no project 'Nope1'/],
  ] as const)
    t.match(await run(...words), { code: 1, said: message });

  const remove = ['connections', 'remove', '--project', 'Proj1', '--kind', 'search-console'];
  t.match(await run(...remove), { code: 0, said: /no longer connected/ });
  t.match(await run('lists', 'status'), { code: 0, said: 'There are no stored lists yet.\n' });
  t.match(await run(...remove), { code: 1, said: /has no search-console connection/ });
  const stored = JSON.stringify(await catalog.statements.all('connections_all', { workspace: null }));
  for (const secret of SECRETS) for (const text of [...said, stored]) t.notOk(text.includes(secret), secret);
});

t.test('a warehouse is tested: what it has, and what is wrong', async (t) => {
  const warehouse = await fakeBigQuery(t);
  const { dataFolder, catalog, google } = await connectedWorld(t);
  const addresses = { endpoint: warehouse.url, tokenEndpoint: google.tokenUrl };
  await connect(catalog, { kind: 'bigquery', credentials: credentialsFile(t), ...addresses, dataset: DATASET });
  await warehouse.table('searchdata_url_impression', URL_COLUMNS);
  await warehouse.table('searchdata_site_impression', SITE_COLUMNS);
  await warehouse.table('ExportLog', LOG_COLUMNS);
  for (const namespace of ['SEARCHDATA_URL_IMPRESSION', 'SEARCHDATA_SITE_IMPRESSION'])
    await warehouse.run(`insert into \`{d}.ExportLog\`
      select 'SEARCHDATA', '${namespace}', day, 0, timestamp '2026-03-02 00:00:00'
      from unnest(generate_date_array(date '2026-01-20', date '2026-03-12')) as day`);
  const test = () => ordinate(dataFolder, 'connections', 'test', '--project', 'Proj1');
  const { out } = await test();
  t.match(out, /^Works: The warehouse has the days 2026-01-20 to 2026-03-12; .*searchdata_site_impression/);
  t.match(out, /^Works: The reporting API can read sc-domain:shop.example/m);
  const error = { code: 403, errors: [{ reason: 'accessDenied' }], message: 'Access Denied: Dataset' };
  warehouse.failure = { status: 403, body: { error } };
  const refused = /^Does not work: .*Access Denied: Dataset.*\n {2}Give the identity the roles/;
  t.match(await test(), { code: 1, out: refused });
});

t.test('connections set refuses a credentials file that cannot work, and says nothing of its content', async (t) => {
  const { dataFolder, catalog } = await connectedWorld(t);
  const folder = temporaryFolder(t);
  const before = await catalog.statements.all('connections_all', { workspace: null });
  const secret = 'a-secret-of-this-file';
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  mkdirSync(join(folder, 'folder'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  const account = { type: 'service_account', client_email: 'a@b.example' };
  const refused: Readonly<Record<string, RegExp>> = {
    [join(folder, 'absent.json')]: /cannot be read \(ENOENT\)/,
    [join(folder, 'folder')]: /is not a file/,
    [join(folder, 'pipe')]: /is not a file/,
    [write('text.json', secret)]: /is not a JSON document/,
    [write('cut.json', `{"type": "authorized_user", "refresh_token": "${secret}`)]: /is not a JSON document/,
    [write('list.json', '[]')]: /must be of the type/,
    [write('large.json', ' '.repeat(200_000))]: /has 200000 bytes/,
    [credentialsFile(t, { type: secret })]: /must be of the type service_account or authorized_user/,
    [credentialsFile(t, { ...account, private_key: secret })]: /has a private_key that is not a private key/,
  };
  for (const [path, why] of Object.entries(refused)) {
    const { code, out, error } = await ordinate(dataFolder, ...SET, path);
    t.match({ code, out, error }, { code: 1, out: '', error: why });
    t.ok(error.startsWith(`The connection was not set: the credentials file '${path}' `), error);
    for (const text of [secret, ...SECRETS]) t.notOk(error.includes(text));
  }
  t.strictSame(await catalog.statements.all('connections_all', { workspace: null }), before);
});

t.test('a connection of a provider that this version lacks is no source, and named when it is tested', async (t) => {
  const { catalog, dataFolder, ask } = await connectedWorld(t);
  const [connection] = await connectionsOf(catalog, 'Proj1');
  await putConnection(catalog, 'Proj1', { ...connection!, kind: 'another' }, 1);
  const tested = await ordinate(dataFolder, 'connections', 'test', '--project', 'Proj1');
  t.match(tested, { code: 1, error: "This version has no provider 'another'." });
  const path = '/pages?from=2026-02-01&to=2026-02-28';
  t.equal((await ask(path)).status, 200, 'the other connection works');
  await removeConnection(catalog, 'Proj1', 'search-console');
  t.match(await ask(path), { status: 503, body: { error: { message: /^There is no source of pages/ } } });
});

/** A catalog that older migrations and some statements have made, opened by this version. */
async function opened(t: Test, migrations: readonly string[], statements: string) {
  const folder = temporaryFolder(t);
  const before = new DatabaseSync(join(folder, 'catalog.sqlite'));
  for (const name of migrations) before.exec(sqlText(name));
  before.exec(`pragma user_version = ${migrations.length}; ${statements}`);
  before.close();
  const catalog = await openCatalog(sqliteIn(folder));
  t.teardown(() => catalog.close());
  return catalog;
}

t.test('a catalog of the first shape is brought up to date', async (t) => {
  const catalog = await opened(
    t,
    ['catalog/migrations/0001-initial'],
    `insert into workspaces values ('acme', 'Acme', 'team', 486);
    insert into projects values ('Proj1', 'acme', 'shop.example', 'sc-domain:shop.example', null, null, '[]', 'ok', null,
      null, null, 0, 1, 0, 1);
    insert into lists values ('Proj1', 'pages', '2026-01-01', '2026-01-31', '', 1, 'lists/a.parquet', 1, 1, 1, 1)`,
  );
  t.strictSame(await listStoredLists(catalog, null), [], 'lists can be made again');
  await connect(catalog, {});
  t.match(await connectionsOf(catalog, 'Proj1'), [{ kind: 'search-console', credentials: null }]);
});

t.test('what a catalog has of providers stays when it takes the kinds of all of them', async (t) => {
  const catalog = await opened(
    t,
    sqlNames('catalog/migrations').filter((name) => name < 'catalog/migrations/0020'),
    `insert into workspaces (id, name, plan, keyword_history_days) values ('acme', 'Acme', 'team', 486);
    insert into projects (id, workspace_id, domain, property, brand_terms, sync_status, history_backfilling,
      setup_finished, created_at) values ('Proj1', 'acme', 'shop.example', 'sc-domain:shop.example', '[]', 'ok', 0, 1, 0);
    insert into connections values ('Proj1', 'bigquery', 'a.json', 'https://b/', 'https://c/', 'p.d', 'EU', 5, 'pages');
    insert into provider_pauses values ('bigquery', 'sc-domain:shop.example', 7, 'rate-limit', '2026-03-01');
    insert into lists values ('lists/a.parquet', 'Proj1', 'pages', '2026-01-01', '2026-01-31', 'usa',
      'property sc-domain:shop.example', 'bigquery', 1, 0, 1, 1, 99, 6, 'abc')`,
  );
  const connection = {
    ...{ kind: 'bigquery', credentials: 'a.json', endpoint: 'https://b/', tokenEndpoint: 'https://c/', grant: null },
    ...{ dataset: 'p.d', location: 'EU', archive: 'pages' },
  } as const;
  t.strictSame({ ...(await connectionsOf(catalog, 'Proj1'))[0] }, connection);
  const pause = { until: 7, reason: 'rate-limit', loadRefusedOn: '2026-03-01' };
  t.strictSame({ ...(await findPause(catalog, 'bigquery', 'sc-domain:shop.example')) }, pause);
  const list = { file: 'lists/a.parquet', source: 'bigquery', from: '2026-01-01', to: '2026-01-31', country: 'usa' };
  const counts = { rows: 1, truncated: false, capped: true, final: true, bytes: 99, fetchedAt: 6 };
  t.match(await listStoredLists(catalog, 'Proj1'), [{ ...list, ...counts, project: 'Proj1', kind: 'pages' }]);
  t.strictSame({ ...(await readListTotals(catalog)) }, { lists: 1, bytes: 99 });

  await putConnection(catalog, 'Proj1', { ...connection, kind: 'another', archive: 'none' }, 8);
  t.match(await connectionsOf(catalog, 'Proj1'), [{ kind: 'another' }, { kind: 'bigquery' }]);
  t.strictSame(await listStoredLists(catalog, null), [], 'lists of providers are dropped');
  t.strictSame({ ...(await readListTotals(catalog)) }, { lists: 0, bytes: 0 }, 'and counted');
  t.match(await listRetiredLists(catalog, Date.now() * 2000), [{ file: 'lists/a.parquet' }], 'and their files removed');
});
