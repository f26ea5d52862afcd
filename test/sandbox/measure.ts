// Measures light requests while eight clients send hostile statements: node test/sandbox/measure.ts (needs `npm run build`).
// Starts a server over a new demo, and compares in turn: nobody else, and four workspaces with two hostile clients each.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../readme.ts';
import { BOMBS } from './hostile.ts';
import { ENDLESS } from './hostile-more.ts';

const PORT = 22017;
const ROUNDS = Number(process.argv[2] ?? 3);
const REQUESTS = Number(process.argv[3] ?? 300);
const ALL = [...ENDLESS, ...BOMBS];
const WORKSPACES = ['hostile1', 'hostile2', 'hostile3', 'hostile4'];
const PROJECT = 'Fw7kd';
const ORDINATE = join(ROOT, 'dist/cli/ordinate.js');

const data = mkdtempSync(join(tmpdir(), 'ordinate-sql-'));
const env = { ...process.env, ORDINATE_DATA: join(data, 'data'), ORDINATE_SQL: 'on', ORDINATE_LOG_LEVEL: 'info' };
const ordinate = (...words: string[]): string =>
  execFileSync(process.execPath, [ORDINATE, ...words], { env }).toString();
const keyOf = (workspace: string): string =>
  (
    JSON.parse(ordinate('keys', 'create', '--workspace', workspace, '--name', 'm', '--scope', 'sql', '--json')) as {
      key: string;
    }
  ).key;

/** A workspace for each two clients, with a project of one day. */
function prepare(): { readonly light: string; readonly hostile: readonly string[] } {
  ordinate('demo');
  const snapshot = join(data, 'snapshot');
  mkdirSync(snapshot);
  const write = (table: string, rows: readonly object[]): void =>
    writeFileSync(join(snapshot, `${table}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const projects = WORKSPACES.map((workspace_id, index) => ({
    workspace_id,
    id: `Host${index}`,
    domain: 'h.example',
    property: 'sc-domain:h.example',
    synced_through: '2026-03-01',
    created_at: '2026-01-01T00:00:00Z',
  }));
  write(
    'workspaces',
    WORKSPACES.map((id) => ({ id, name: id, plan: 'team', keyword_history_days: 486 })),
  );
  write('projects', projects);
  write(
    'site_daily',
    projects.map(({ id }) => ({
      project_id: id,
      date: '2026-03-01',
      device: 'mobile',
      clicks: 1,
      impressions: 9,
      sum_position: 3,
    })),
  );
  ordinate('load', snapshot);
  // A minute has more requests than a key may send by default.
  for (const workspace of ['demo', ...WORKSPACES])
    ordinate('workspaces', 'set', workspace, '--requests-per-minute', '100000');
  return { light: keyOf('demo'), hostile: WORKSPACES.map(keyOf) };
}

const address = `http://127.0.0.1:${PORT}/api/v1/projects/`;

/** Sends hostile statements one after the other until the signal is aborted. Returns how many were answered, by status. */
async function attack(
  project: string,
  key: string,
  first: number,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (let at = first; !signal.aborted; at++) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ sql: ALL[at % ALL.length]!.sql });
    const status = await fetch(`${address}${project}/sql`, { method: 'POST', headers, body, signal }).then(
      (answer) => answer.text().then(() => answer.status),
      () => 'left',
    );
    found[status] = (found[status] ?? 0) + 1;
  }
  return found;
}

/** All light requests, in random order: each is sent once, so that none is answered from the response cache. */
const questions = [...Array(470).keys()]
  .flatMap((day) => ['all', 'desktop', 'mobile', 'tablet'].map((device) => `period=${7 + day}d&device=${device}`))
  .flatMap((query) => ['day', 'week', 'month'].map((interval) => `${query}&interval=${interval}`))
  .map((query) => ({ query, order: Math.random() }))
  .sort((a, b) => a.order - b.order)
  .map(({ query }) => query);

/** Milliseconds of light requests of a client that waits 20 ms after each answer: days of the property. */
async function light(key: string): Promise<number[]> {
  const times: number[] = [];
  for (const question of questions.splice(0, REQUESTS)) {
    const started = performance.now();
    const answer = await fetch(`${address}${PROJECT}/site?${question}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`A light request was answered ${answer.status}.`);
    times.push(performance.now() - started);
    await sleep(20);
  }
  return times;
}

const at = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)]!;

const memoryOf = (server: ChildProcess): string =>
  /VmHWM:\s*(.*)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]!;

const keys = prepare();
const server = spawn(process.execPath, [ORDINATE, 'serve', '--port', String(PORT)], {
  env: { ...env, ORDINATE_JOBS: 'off' },
  stdio: ['ignore', 'ignore', 'pipe'],
});
let printed = '';
server.stderr.on('data', (part: Buffer) => {
  printed += part.toString();
});
try {
  while (
    !(await fetch(`http://127.0.0.1:${PORT}/livez`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await sleep(100);
  await light(keys.light);
  console.log(
    `isolation: ${/"isolation":"(\w+)"/.exec(printed)?.[1]}, load ${loadavg()
      .map((one) => one.toFixed(1))
      .join(' ')}`,
  );
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const alone = await light(keys.light);
    const leaving = new AbortController();
    const attacks = Array.from({ length: 8 }, (_, client) =>
      attack(`Host${client % 4}`, keys.hostile[client % 4]!, client, leaving.signal),
    );
    await sleep(2000);
    const attacked = await light(keys.light);
    leaving.abort();
    const answers: Record<string, number> = {};
    for (const [status, count] of (await Promise.all(attacks)).flatMap(Object.entries<number>))
      answers[status] = (answers[status] ?? 0) + count;
    await sleep(1500);
    // The same without hostile statements: how far two measurements differ anyway.
    const again = await light(keys.light);
    const base = at([...alone, ...again], 0.95);
    ratios.push(at(attacked, 0.95) / base);
    const row = [0.5, 0.95].flatMap((share) => [alone, again, attacked].map((times) => at(times, share).toFixed(1)));
    const noise = at(again, 0.95) / at(alone, 0.95);
    console.log(
      `| ${[round + 1, ...row, `${ratios.at(-1)!.toFixed(2)} ×`, `${noise.toFixed(2)} ×`].join(' | ')} | hostile ${JSON.stringify(answers)}; server ${memoryOf(server)}; load ${loadavg()[0]!.toFixed(1)}`,
    );
  }
  console.log(`ratio of p95: median ${at(ratios, 0.5).toFixed(2)}, worst ${Math.max(...ratios).toFixed(2)}`);
} finally {
  server.kill();
  await once(server, 'exit');
  rmSync(data, { recursive: true });
}
