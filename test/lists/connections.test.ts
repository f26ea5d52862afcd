import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { connectionsOf, removeConnection } from '../../server/catalog/connections.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { sqliteIn } from '../../server/catalog/place.ts';
import { findPause } from '../../server/catalog/provider-pauses.ts';
import { listStoredLists } from '../../server/catalog/stored-lists.ts';
import { sqlText } from '../../server/runtime/sql.ts';
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
