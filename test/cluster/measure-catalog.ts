// What a cached answer costs with the catalog in PostgreSQL, compared with SQLite: both servers answer the same requests in
// turn. ORDINATE_TEST_POSTGRES names the PostgreSQL server. Prints medians; only their ratios count.
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { makeDataFolder, run, type Server, startServer } from '../process.ts';
import { facts, PROJECT, WORKSPACE, writeSnapshot } from '../world.ts';
import { newDatabase, skip } from './databases.ts';

const ROUNDS = 15;
const REQUESTS = 1500;
const TICKS_PER_SECOND = 100;

t.test('cached answers', { skip, timeout: 0 }, async (t) => {
  const days = facts('date device', ['2026-03-01', 'mobile', 3, 100, 900]);
  const snapshot = writeSnapshot(t, { workspaces: [WORKSPACE], projects: [PROJECT], site_daily: days });
  const { dataFolder, keys } = await makeDataFolder(t, [snapshot]);
  {
    using db = new DatabaseSync(join(dataFolder, 'catalog.sqlite'));
    db.exec('update workspaces set requests_per_minute = 1000000000');
  }
  const address = await newDatabase(t);
  const settings = { ORDINATE_DATA: dataFolder };
  const sqlite = await startServer(t, settings);
  const copy = await run(t, settings, 'catalog', 'copy', '--to', address);
  if (copy.code !== 0) throw new Error(copy.stderr);
  const postgres = await startServer(t, { ...settings, ORDINATE_CATALOG: address });
  for (const connections of [1, 16]) {
    const found = { sqlite: [] as Cost[], postgres: [] as Cost[] };
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, server] of Object.entries({ sqlite, postgres })) {
        found[name as keyof typeof found].push(await measure(server, keys[0]!, connections));
      }
    }
    for (const what of ['elapsed', 'processor'] as const) {
      const [one, other] = [median(found.sqlite, what), median(found.postgres, what)];
      t.comment(
        `${connections} connections, ${what} for each request: SQLite ${one.toFixed(3)} ms, PostgreSQL ${other.toFixed(3)} ms, ratio ${(other / one).toFixed(2)}`,
      );
    }
  }
  t.pass();
});

/** Milliseconds for each request: what it took, and processor time of the server. */
interface Cost {
  readonly elapsed: number;
  readonly processor: number;
}

async function measure(server: Server, key: string, connections: number): Promise<Cost> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const url = `${server.address}/api/v1/projects/Proj1/site?from=2026-03-01&to=2026-03-01`;
  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const request = get(url, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
        response.resume().once('end', resolve);
        if (response.statusCode !== 200) reject(new Error(String(response.statusCode)));
      });
      request.once('error', reject);
    });
  await ask();
  const before = processorOf(server.child.pid!);
  const started = performance.now();
  const each = async (): Promise<void> => {
    for (let n = 0; n < REQUESTS / connections; n++) await ask();
  };
  await Promise.all(Array.from({ length: connections }, each));
  const elapsed = (performance.now() - started) / REQUESTS;
  const processor = (processorOf(server.child.pid!) - before) / REQUESTS;
  agent.destroy();
  return { elapsed: elapsed * (connections === 1 ? 1 : connections), processor };
}

/** Milliseconds of processor time of a process so far. */
function processorOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

function median(costs: readonly Cost[], what: keyof Cost): number {
  return costs.map((cost) => cost[what]).sort((a, b) => a - b)[Math.floor(costs.length / 2)]!;
}
