// A lease in a data folder has a single holder, and is free after that holder is killed.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { FileLeases } from '../../server/catalog/file-leases.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { startHolder } from '../lease-holder.ts';
import { temporaryFolder } from '../world.ts';

t.test('a lease has one holder, and is free when its process is killed', async (t) => {
  const dataFolder = temporaryFolder(t);
  const leases = new FileLeases(dataFolder);
  const other = await startHolder(t, sqliteIn(dataFolder));
  t.ok(other.has);
  t.equal(await leases.acquire('a'), undefined);
  const b = await leases.acquire('b');
  t.ok(b, 'leases of other names are apart');
  await b?.release();
  await other.kill();
  const lease = await leases.acquire('a');
  t.ok(lease);
  t.equal(await lease?.isHeld(), true);
  await lease?.release();
});

t.test('whoever asks again for what it has does not lose it', async (t) => {
  const dataFolder = temporaryFolder(t);
  const leases = new FileLeases(dataFolder);
  const lease = await leases.acquire('a');
  t.equal(await leases.acquire('a'), undefined);
  const other = await startHolder(t, sqliteIn(dataFolder));
  t.notOk(other.has, 'to another process');
  await lease?.release();
});

t.test('a lease whose file was removed is lost: others can make the file anew', async (t) => {
  const dataFolder = temporaryFolder(t);
  const leases = new FileLeases(dataFolder);
  const lease = await leases.acquire('a');
  rmSync(join(dataFolder, 'leases'), { recursive: true });
  t.equal(await lease?.isHeld(), false);
  await lease?.release();
});
