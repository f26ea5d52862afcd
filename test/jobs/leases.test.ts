import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { FileLeases } from '../../server/catalog/file-leases.ts';
import { temporaryFolder } from '../world.ts';

const LEASES = join(import.meta.dirname, '../../server/catalog/file-leases.ts');

/** Another process that tries to take the lease `a`, keeps it, and says whether it has it. */
async function startOther(t: Test, dataFolder: string): Promise<{ has: boolean; kill: () => Promise<void> }> {
  const program = `
    const { FileLeases } = await import(${JSON.stringify(LEASES)});
    const lease = await new FileLeases(${JSON.stringify(dataFolder)}).acquire('a');
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

t.test('a lease has one holder, and is free when its process is killed', async (t) => {
  const dataFolder = temporaryFolder(t);
  const leases = new FileLeases(dataFolder);
  const other = await startOther(t, dataFolder);
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
  const other = await startOther(t, dataFolder);
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
