import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openLeases } from '../../server/catalog/open-leases.ts';
import { until } from '../process.ts';
import { newDatabase, query, skip } from './databases.ts';

const LEASES = join(import.meta.dirname, '../../server/catalog/open-leases.ts');

/** Another process that takes the lease `a` and keeps it. */
async function startHolder(t: Test, catalogUrl: string): Promise<() => Promise<void>> {
  const program = `
    const { openLeases } = await import(${JSON.stringify(LEASES)});
    const lease = await openLeases({ dataFolder: '', catalogUrl: ${JSON.stringify(catalogUrl)} }).acquire('a');
    process.stdout.write(lease === undefined ? 'no' : 'yes');
    setInterval(() => lease, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  t.teardown(kill);
  const [answer] = (await once(child.stdout, 'data')) as [Buffer];
  t.equal(String(answer), 'yes');
  return kill;
}

t.test('a lease has one holder over processes, and is free when its process is killed', { skip }, async (t) => {
  const catalogUrl = await newDatabase(t);
  const leases = openLeases({ dataFolder: '', catalogUrl });
  const kill = await startHolder(t, catalogUrl);
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
