// Each isolation holds what the guide says of it, also where only the weaker ones are there.
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'tap';
import { findIsolation, ISOLATIONS, type Isolation, startIsolated } from '../../server/sandbox/launch.ts';
import { makeWorld, temporaryFolder } from '../world.ts';
import { FACTS, on, poster } from './sql-world.ts';

/** What code that has broken out of DuckDB would try. */
const BREAK_OUT = `
const fs = require('node:fs');
const can = (what) => { try { what(); return true; } catch { return false; } };
const [given, secret, pid, port] = process.argv.slice(1);
const status = fs.readFileSync('/proc/self/status', 'utf8');
const found = {
  readsItsFiles: can(() => fs.readFileSync(given + '/table.parquet')),
  writesItsFiles: can(() => fs.appendFileSync(given + '/table.parquet', 'x')),
  emptiesItsFiles: can(() => fs.truncateSync(given + '/table.parquet')),
  readsOthers: can(() => fs.readFileSync(secret)),
  writesOthers: can(() => fs.appendFileSync(secret, 'x')),
  emptiesOthers: can(() => fs.truncateSync(secret)),
  seesProcesses: fs.existsSync('/proc/' + pid + '/status') && can(() => process.kill(Number(pid), 0)),
  environment: Object.keys(process.env).filter((name) => /ORDINATE|KEY|HOME/.test(name)).length,
  allocates: can(() => Buffer.alloc(3e9)),
  hasNewRights: !/NoNewPrivs:\\t1/.test(status),
  rights: /CapEff:\\t(\\w+)/.exec(status)[1].replace(/^0+(?=.)/, ''),
  nice: require('node:os').getPriority() > 0,
};
require('node:net').connect(Number(port), '127.0.0.1')
  .on('connect', () => end(true)).on('error', () => end(false));
function end(connects) { console.log(JSON.stringify({ ...found, connects })); process.exit(); }
`;

const EVERYWHERE = {
  readsItsFiles: true,
  writesItsFiles: false,
  writesOthers: false,
  environment: 0,
  allocates: false,
  nice: true,
};
/** Of the rights of the service. */
const all = (is: boolean) => ({
  emptiesItsFiles: is,
  emptiesOthers: is,
  readsOthers: is,
  seesProcesses: is,
  connects: is,
});
const HELD: Readonly<Record<Isolation, object>> = {
  namespaces: { ...EVERYWHERE, ...all(false), hasNewRights: false, rights: '0' },
  capabilities: { ...EVERYWHERE, ...all(true), hasNewRights: false, rights: '0' },
  limits: { ...EVERYWHERE, ...all(true), hasNewRights: true },
};

for (const isolation of ISOLATIONS) {
  test(`a process with the isolation ${isolation}`, async (t) => {
    const folder = temporaryFolder(t);
    const [empty, files, secret] = ['empty', 'files', 'secret'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const path of [empty, files]) mkdirSync(path);
    writeFileSync(join(files, 'table.parquet'), 'rows');
    writeFileSync(secret, 'secret');
    if ((await findIsolation(empty, files, [isolation])) === undefined) {
      t.comment(`${isolation} is not there`);
      return;
    }
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    t.teardown(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const command = [process.execPath, '--eval', BREAK_OUT, files, secret, String(process.pid), String(port)];
    const child = startIsolated(command, { isolation, empty, files });
    let printed = '';
    child.stdout!.on('data', (part: Buffer) => {
      printed += part.toString();
    });
    await once(child, 'close');
    t.match(JSON.parse(printed), HELD[isolation]);
    const isWhole = isolation === 'namespaces';
    t.equal(readFileSync(secret, 'utf8'), isWhole ? 'secret' : '');
    t.equal(readFileSync(join(files, 'table.parquet'), 'utf8'), isWhole ? 'rows' : '');
  });

  test(`statements with the isolation ${isolation}`, async (t) => {
    const folder = temporaryFolder(t);
    if ((await findIsolation(folder, folder, [isolation])) === undefined) {
      t.comment(`${isolation} is not there`);
      return;
    }
    const world = await makeWorld(t, FACTS, { ...on, statements: { isolations: [isolation] } });
    const line = world.log.map((text) => JSON.parse(text) as Record<string, unknown>).find((one) => 'isolation' in one);
    t.match(line, { isolation, level: isolation === 'namespaces' ? 30 : 40 });
    t.equal('notHeld' in line!, isolation !== 'namespaces', 'the log says what does not hold');
    const post = await poster(world);
    t.strictSame((await post({ sql: 'select sum(clicks) as clicks from site_daily' })).body.rows, [{ clicks: 15 }]);
    for (const sql of [
      `from read_text('/etc/passwd')`,
      `from '/etc/passwd'`,
      `copy site_daily to '${folder}/x'`,
      `from read_csv('http://127.0.0.1:1/x')`,
      `attach '${world.dataFolder}/catalog.sqlite'`,
    ]) {
      t.equal((await post({ sql })).status, 400, sql);
    }
    const large = await post({ sql: "select length(repeat('x', 2000000000) || repeat('y', 2000000000))" });
    t.match(large, { status: 400, body: { error: { message: /memory|Memory/ } } }, large.text);
  });
}
