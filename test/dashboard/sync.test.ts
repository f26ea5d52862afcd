// Owners and admins have a project synced now: background jobs begin within 10 seconds, and fetch fresh days again.
import t from 'tap';
import { listDueProjects, NEVER_SYNCED, putSyncProject, readSyncProject } from '../../server/catalog/sync-projects.ts';
import { syncProjects } from '../../server/jobs/sync-projects.ts';
import { connect } from '../fakes/connected.ts';
import { NOW } from '../world.ts';
import { audited, makeTeam, type Who } from './team.ts';

const SYNC = '/projects/Proj1/sync';
const at = NOW * 1000;
const LATER = at + 3_600_000_000;

t.test('a request makes the project due before others, and is audited', async (t) => {
  const { send, catalog } = await makeTeam(t);
  for (const id of ['Proj1', 'Proj2']) await connect(catalog, {}, id);
  await putSyncProject(catalog, 'Proj1', { ...NEVER_SYNCED, lastRunAt: at - 9, nextRunAt: LATER, lastError: 'Why.' });
  const why = async (who: Who) => (await send(who, 'GET', '/projects/Proj1/data')).body.sync.error as string;
  t.strictSame([await why('member'), await why('admin'), await why('owner')], [null, 'Why.', 'Why.']);
  const due = async () => listDueProjects(catalog, at, 9);
  t.strictSame(await due(), ['Proj2']);
  t.match(await send('admin', 'POST', SYNC, {}), { status: 202, body: {} });
  t.strictSame(await due(), ['Proj1', 'Proj2']);
  const entry = { actor: 'admin@acme.example', subject: 'Proj1', details: {} };
  t.strictSame(await audited(catalog, 'sync.requested'), [entry]);
  t.ok(syncProjects.every * (1 + syncProjects.jitter) < 9000, 'jobs look often enough');
});

t.test('a request while the project is being synced has it synced once more', async (t) => {
  const { send, catalog, clock } = await makeTeam(t);
  await connect(catalog, {});
  const end = (began: number) =>
    putSyncProject(catalog, 'Proj1', { ...NEVER_SYNCED, lastRunAt: began, nextRunAt: LATER });
  const next = async () => (await readSyncProject(catalog, 'Proj1')).nextRunAt;
  await end(clock.at * 1000);
  clock.at += 1000;
  t.equal((await send('owner', 'POST', SYNC)).status, 202);
  await end(clock.at * 1000 - 1);
  t.equal(await next(), null);
  await end(clock.at * 1000 + 1);
  t.equal(await next(), LATER);
});

t.test('what is refused', async (t) => {
  const { send, catalog } = await makeTeam(t);
  t.match(await send('owner', 'POST', SYNC, {}), { status: 409, code: 'conflict', message: /has no connection/ });
  t.equal((await audited(catalog, 'sync.requested')).length, 0);
  await connect(catalog, {});
  t.match(await send('owner', 'POST', SYNC, { now: true }), { status: 400, message: /'now' is not a field/ });
  const off = await makeTeam(t, {}, { ORDINATE_SYNC: 'off' });
  await connect(off.catalog, {});
  t.match(await off.send('owner', 'POST', SYNC, {}), { status: 409, message: /ORDINATE_SYNC=off/ });
});
