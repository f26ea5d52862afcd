import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { CatalogLocation } from '../server/catalog/location.ts';

const LEASES = join(import.meta.dirname, '../server/catalog/open-leases.ts');

/** Another process that tries to take the lease `a`, keeps it, and says whether it has it. */
export async function startHolder(
  t: Test,
  place: CatalogLocation,
): Promise<{ has: boolean; kill: () => Promise<void> }> {
  const program = `
    const { openLeases } = await import(${JSON.stringify(LEASES)});
    const lease = await openLeases(${JSON.stringify(place)}).acquire('a');
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
  return { has: String(answer) === 'yes', kill };
}
