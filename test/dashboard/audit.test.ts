// Owners and admins read who did what in their workspace, the newest first; nobody sees another workspace.
import t from 'tap';
import { isoInstant } from '../../server/domain/instants.ts';
import { NOW } from '../world.ts';
import { eachRole, makeTeam } from './team.ts';

type Entry = { at: string; actor: string; action: string; subject: string | null; details: object };

t.test('entries: newest first, chosen by action, day and number', async (t) => {
  const { send, clock } = await makeTeam(t);
  const read = async (query: string, who: 'owner' | 'other' = 'owner') =>
    (await send(who, 'GET', `/audit${query}`)).body.entries as Entry[];
  clock.at += 1000;
  const note = { date: '2026-03-02', category: 'launch', text: 'New' };
  const { id } = (await send('member', 'POST', '/projects/Proj1/notes', note)).body.note;
  clock.at += 1000;
  await send('admin', 'DELETE', `/projects/Proj1/notes/${id}`);
  const details = { project: 'Proj1', date: '2026-03-02', text: 'New' };
  const [removed, created] = [
    { at: isoInstant(clock.at * 1000), actor: 'admin@acme.example', action: 'note.removed', subject: id, details },
    {
      at: isoInstant(clock.at * 1000 - 1e6),
      actor: 'member@acme.example',
      action: 'note.created',
      subject: id,
      details,
    },
  ] as const;
  t.strictSame(await read('?action=note.created'), [created]);
  // What commands of the test did before has the time of its machine.
  const ofNotes = (entries: Entry[]) => entries.filter(({ action }) => action.startsWith('note.'));
  t.strictSame(ofNotes(await read('')), [removed, created]);
  t.strictSame(ofNotes(await read(`?since=${removed.at}`)), [removed]);
  t.strictSame(ofNotes(await read('?since=2026-03-15')), [removed, created]);
  t.strictSame(await read('?since=2199-01-01'), []);
  t.equal((await read('?limit=2')).length, 2);
  const [entry] = await read('?action=session.created');
  t.match(entry, { action: 'session.created', subject: String });
  t.strictSame(ofNotes(await read('', 'other')), []);
  t.ok((await read('', 'other')).every(({ actor }) => actor !== 'owner@acme.example'));
});

t.test('who may, and what is wrong', async (t) => {
  const { send } = await makeTeam(t);
  await eachRole(t, send, { allowed: ['owner', 'admin'], status: 200, other: 200 }, async () => ['GET', '/audit']);
  for (const [query, message] of [
    ['limit=0', /limit must be a whole number from 1 to 1000/],
    ['limit=1001', /limit must be/],
    ['limit=5&limit=6', /limit was sent more than once/],
    ['action=note', /action must be one of workspace\.created/],
    ['since=yesterday', /since must be a day such as 2026-03-01, or an instant/],
    ['since=2026-02-30', /since must be/],
    ['workspace=other', /'workspace' is no parameter; they are limit, action and since/],
  ] as const) {
    t.match(await send('owner', 'GET', `/audit?${query}`), { status: 400, code: 'invalid_request', message }, query);
  }
  t.equal((await send('owner', 'GET', `/audit?since=${new Date(NOW).toISOString()}`)).status, 200);
});
