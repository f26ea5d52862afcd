// A cached API key is available without waiting, and never stays valid after the commit that revokes it.
import t from 'tap';
import { CatalogCache } from '../../server/catalog/catalog-cache.ts';
import { revokeKey } from '../../server/catalog/keys.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { createWorkspace } from '../../server/catalog/workspaces.ts';
import { createKey } from '../../server/operations/keys.ts';
import { temporaryFolder } from '../world.ts';

t.test(
  'a key is there at once when it was read before; what was read before a commit is not kept after it',
  async (t) => {
    await using catalog = await openCatalog(sqliteIn(temporaryFolder(t)));
    await createWorkspace(catalog, { id: 'acme', name: 'Acme', plan: 'team', keywordHistoryDays: 30 });
    const { id, key } = await createKey(catalog, { workspace: 'acme', name: 'one', at: 0 });
    const { key: other } = await createKey(catalog, { workspace: 'acme', name: 'two', at: 0 });
    const cache = new CatalogCache(catalog);
    t.match(await cache.access(key), { keyId: id });
    t.match(cache.access(key), { keyId: id }, 'without waiting');

    await createWorkspace(catalog, { id: 'beta', name: 'Beta', plan: 'team', keywordHistoryDays: 30 });
    // A read that takes a while.
    const { promise, resolve } = Promise.withResolvers<void>();
    const { statements } = catalog;
    const get = statements.get.bind(statements);
    statements.get = async (...asked) => {
      const row = await get(...asked);
      await promise;
      return row as never;
    };
    const reading = cache.access(key);
    Reflect.deleteProperty(statements, 'get');
    await catalog.transaction((tx) => revokeKey(tx, id, 1));
    t.ok(await cache.access(other), 'others are read after the commit');
    resolve();
    t.match(await reading, { keyId: id }, 'it was asked for before');
    t.equal(await cache.access(key), undefined);
  },
);
