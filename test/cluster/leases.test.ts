// A lease in PostgreSQL has a single holder over all nodes, and is free after that holder is killed.
import t from 'tap';
import { openLeases } from '../../server/catalog/open-leases.ts';
import { startHolder } from '../lease-holder.ts';
import { until } from '../process.ts';
import { newDatabase, query, skip } from './databases.ts';

t.test('a lease has one holder over processes, and is free when its process is killed', { skip }, async (t) => {
  const catalogUrl = await newDatabase(t);
  const place = { dataFolder: '', catalogUrl };
  const leases = openLeases(place);
  const { has, kill } = await startHolder(t, place);
  t.ok(has);
  t.equal(await leases.acquire('a'), undefined);
  const other = await leases.acquire('b');
  t.ok(other, 'leases of other names are apart');
  t.equal(await leases.acquire('b'), undefined, 'also for whoever has it');
  await other?.release();
  await kill();
  const lease = await until('the lease of a killed process', () => leases.acquire('a'));
  t.equal(await lease.isHeld(), true);
  await lease.release();
});

t.test('a lease is lost with its connection', { skip }, async (t) => {
  const catalogUrl = await newDatabase(t);
  const leases = openLeases({ dataFolder: '', catalogUrl });
  const lease = await leases.acquire('a');
  await query(
    catalogUrl,
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  t.equal(await lease?.isHeld(), false);
  await lease?.release();
  const next = await leases.acquire('a');
  t.ok(next);
  await next?.release();
});
