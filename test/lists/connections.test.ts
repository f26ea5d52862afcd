// A changed connection keeps or drops its stored lists as needed, and an invalid one is rejected with a reason.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { connectionsOf, putConnection, removeConnection } from '../../server/catalog/connections.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { findPause } from '../../server/catalog/provider-pauses.ts';
import { listRetiredLists, listStoredLists, readListTotals } from '../../server/catalog/stored-lists.ts';
import { sqlNames, sqlText } from '../../server/runtime/sql.ts';
import { ordinate } from '../fakes/command-line.ts';
import { connect, connectedWorld, credentialsFile } from '../fakes/connected.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { temporaryFolder } from '../world.ts';

const PATH = '/pages?from=2026-02-01&to=2026-02-28';

t.test('new credentials leave the lists; another address drops them', async (t) => {
  const world = await connectedWorld(t);
  const { catalog, google, ask } = world;
  const { url: endpoint, tokenUrl: tokenEndpoint } = google;
  google.pages = [{ key: '/', clicks: 1, impressions: 2, position: 1 }];
  await ask(PATH);
  await connect(catalog, { credentials: credentialsFile(t), endpoint, tokenEndpoint });
  await ask(PATH);
  t.equal(google.requests.length, 1);
  await connect(catalog, { credentials: credentialsFile(t), endpoint: `${endpoint}?`, tokenEndpoint });
  t.strictSame(await listStoredLists(catalog, 'Proj1'), []);
  t.equal((await ask(PATH)).status, 200);
  t.equal(google.requests.length, 2);
  await removeConnection(catalog, 'Proj1', 'search-console');
  t.strictSame([await listStoredLists(catalog, null), await connectionsOf(catalog, 'Proj1')], [[], []]);
  await t.rejects(removeConnection(catalog, 'Proj1', 'search-console'), /has no search-console connection/);
});

t.test('a connection that is set anew ends the pause of its property', async (t) => {
  const { catalog, google, ask } = await connectedWorld(t);
  google.failure = { how: FAILURES.loadQuota, times: 1 };
  t.equal((await ask(PATH)).status, 503);
  t.match(await findPause(catalog, 'search-console', 'sc-domain:shop.example'), { reason: 'load-quota' });
  await connect(catalog, { credentials: credentialsFile(t), endpoint: google.url, tokenEndpoint: google.tokenUrl });
  t.equal((await ask(PATH)).status, 200);
});

t.test('a connection is refused with a sentence', async (t) => {
  const { catalog } = await connectedWorld(t);
  for (const [connection, message] of [
    [{ kind: 'bigquery' }, /needs --dataset/],
    [{ kind: 'bigquery', dataset: 'project`.x' }, /needs --dataset .*not 'project`.x'/],
    [{ dataset: 'my-project.data' }, /--dataset and --location are for bigquery/],
    [{ endpoint: 'ftp://example.com' }, /--endpoint must be an http or https address/],
    [{ tokenEndpoint: 'nonsense' }, /--token-endpoint must be an http or https address/],
  ] as const) {
    await t.rejects(connect(catalog, connection), message);
  }
});

t.test('a catalog of the first shape is brought up to date', async (t) => {
  const folder = temporaryFolder(t);
  const before = new DatabaseSync(join(folder, 'catalog.sqlite'));
  before.exec(sqlText('catalog/migrations/0001-initial'));
  before.exec(`
    pragma user_version = 1;
    insert into workspaces values ('acme', 'Acme', 'team', 486);
    insert into projects values ('Proj1', 'acme', 'shop.example', 'sc-domain:shop.example', null, null, '[]', 'ok', null,
      null, null, 0, 1, 0, 1);
    insert into lists values ('Proj1', 'pages', '2026-01-01', '2026-01-31', '', 1, 'lists/a.parquet', 1, 1, 1, 1)`);
  before.close();
  const catalog = await openCatalog(sqliteIn(folder));
  t.teardown(() => catalog.close());
  t.strictSame(await listStoredLists(catalog, null), [], 'lists can be made again');
  await connect(catalog, {});
  t.match(await connectionsOf(catalog, 'Proj1'), [{ kind: 'search-console', credentials: null }]);
});

t.test('what a catalog has of providers stays when it takes the kinds of all of them', async (t) => {
  const folder = temporaryFolder(t);
  const before = new DatabaseSync(join(folder, 'catalog.sqlite'));
  const migrations = sqlNames('catalog/migrations').filter((name) => name < 'catalog/migrations/0020');
  for (const name of migrations) before.exec(sqlText(name));
  before.exec(`
    pragma user_version = ${migrations.length};
    insert into workspaces (id, name, plan, keyword_history_days) values ('acme', 'Acme', 'team', 486);
    insert into projects (id, workspace_id, domain, property, brand_terms, sync_status, history_backfilling,
      setup_finished, created_at) values ('Proj1', 'acme', 'shop.example', 'sc-domain:shop.example', '[]', 'ok', 0, 1, 0);
    insert into connections values ('Proj1', 'bigquery', 'a.json', 'https://b/', 'https://c/', 'p.d', 'EU', 5, 'pages');
    insert into provider_pauses values ('bigquery', 'sc-domain:shop.example', 7, 'rate-limit', '2026-03-01');
    insert into lists values ('lists/a.parquet', 'Proj1', 'pages', '2026-01-01', '2026-01-31', 'usa',
      'property sc-domain:shop.example', 'bigquery', 1, 0, 1, 1, 99, 6, 'abc')`);
  before.close();
  const catalog = await openCatalog(sqliteIn(folder));
  t.teardown(() => catalog.close());
  const [kind, endpoint, tokenEndpoint] = ['bigquery', 'https://b/', 'https://c/'];
  const connection = {
    kind,
    credentials: 'a.json',
    endpoint,
    tokenEndpoint,
    grant: null,
    dataset: 'p.d',
    location: 'EU',
  };
  t.strictSame({ ...(await connectionsOf(catalog, 'Proj1'))[0] }, { ...connection, archive: 'pages' });
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

t.test(
  'a connection of a provider that this version lacks is no source of lists, and named when it is tested',
  async (t) => {
    const { catalog, dataFolder, ask } = await connectedWorld(t);
    const [connection] = await connectionsOf(catalog, 'Proj1');
    await putConnection(catalog, 'Proj1', { ...connection!, kind: 'another' }, 1);
    const test = () => ordinate(dataFolder, 'connections', 'test', '--project', 'Proj1');
    t.match(await test(), { code: 1, error: "This version has no provider 'another'." });
    t.equal((await ask(PATH)).status, 200, 'the other connection works');
    await removeConnection(catalog, 'Proj1', 'search-console');
    t.match(await ask(PATH), { status: 503, body: { error: { message: /^There is no source of pages/ } } });
  },
);
