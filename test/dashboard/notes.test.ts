// Members write notes in the browser and by command: checked, audited, visible at once, and kept by a rebuild.
import t, { type Test } from 'tap';
import type { Catalog } from '../../server/catalog/catalog.ts';
import type { LoadLock } from '../../server/catalog/locks.ts';
import { command } from '../command.ts';
import { keyword } from '../world.ts';
import { makeTeam } from './team.ts';

const NOTES = '/projects/Proj1/notes';
const NOTE = { date: '2026-03-02', category: 'launch', text: 'New checkout' };

t.test('a note: added, changed, removed, each visible at once and audited', async (t) => {
  const { send, read, catalog } = await makeTeam(t);
  const added = await send('member', 'POST', NOTES, NOTE);
  t.match(added, {
    status: 201,
    body: { note: { ...NOTE, scope: 'project', author: 'member@acme.example', endDate: null, clientVisible: false } },
  });
  const { id } = added.body.note;
  t.match((await read(NOTES)).body.notes, [added.body.note]);
  const changed = await send('member', 'PATCH', `${NOTES}/${id}`, { text: 'Newer checkout', endDate: '2026-03-04' });
  t.match(changed, { status: 200, body: { note: { ...NOTE, text: 'Newer checkout', endDate: '2026-03-04' } } });
  t.strictSame((await read(NOTES)).body.notes, [changed.body.note]);
  t.equal((await send('member', 'DELETE', `${NOTES}/${id}`)).status, 204);
  t.strictSame((await read(NOTES)).body.notes, []);
  for (const action of ['note.created', 'note.changed', 'note.removed']) {
    const entries = await catalog.statements.all('audit_list', { workspace: 'acme', action, since: 0, limit: 9 });
    t.match(entries, [{ actor: 'member@acme.example', subject: id }], action);
  }
});

t.test('who may: members their own, owners and admins all, keys none', async (t) => {
  const { send } = await makeTeam(t);
  const of = async (who: 'owner' | 'member') => (await send(who, 'POST', NOTES, NOTE)).body.note.id as string;
  for (const [who, author, status] of [
    ['member', 'member', 200],
    ['member', 'owner', 403],
    ['admin', 'member', 200],
    ['owner', 'member', 200],
    ['key', 'member', 403],
    ['other', 'member', 404],
    ['stranger', 'member', 401],
  ] as const) {
    const path = `${NOTES}/${await of(author)}`;
    t.equal((await send(who, 'PATCH', path, { text: 'changed' })).status, status, `${who} changes one of ${author}`);
    t.equal((await send(who, 'DELETE', path)).status, status === 200 ? 204 : status, `${who} removes one of ${author}`);
  }
  t.equal((await send('key', 'POST', NOTES, NOTE)).code, 'forbidden');
});

t.test('checks in order: path, role, body; each names what is wrong', async (t) => {
  const { send } = await makeTeam(t, { keywords: [keyword('Kw001', 'shoes')] });
  t.equal((await send('key', 'POST', '/projects/Nope1/notes', 'no JSON')).status, 404);
  t.equal((await send('key', 'PATCH', `${NOTES}/nothing`, { text: 5 })).status, 404);
  t.equal((await send('key', 'POST', NOTES, 'no JSON')).status, 403);
  const { id } = (await send('owner', 'POST', NOTES, NOTE)).body.note;
  t.equal((await send('owner', 'PATCH', `/projects/Proj2/notes/${id}`, {})).status, 404, 'a note of another project');
  for (const method of ['PATCH', 'DELETE'] as const) {
    t.equal((await send('member', method, `${NOTES}/${id}`, { nonsense: 1 })).status, 403, 'a note of somebody else');
  }
  for (const [body, name] of [
    ['text', /JSON/],
    [[], /JSON object/],
    [{}, /date, category, text must be sent/],
    [{ ...NOTE, date: '2026-02-30' }, /'date' must be a day/],
    [{ ...NOTE, date: 5 }, /'date' must be string/],
    [{ ...NOTE, endDate: '2026-03-01' }, /'endDate' must not be before 'date'/],
    [{ ...NOTE, category: 'other things' }, /'category' must be one of launch, content/],
    [{ ...NOTE, text: '  ' }, /'text' must be a text of 1 to 5000 characters/],
    [{ ...NOTE, texts: 'x' }, /'texts' is not a field of this request; its fields are date/],
    [{ ...NOTE, scope: 'workspace' }, /'scope' workspace is for notes without a project/],
    [{ ...NOTE, scope: 'group' }, /'groupId' must be sent with scope group/],
    [{ ...NOTE, scope: 'group', groupId: 'Gone1' }, /'groupId': the project has no such group/],
    [{ ...NOTE, scope: 'keyword', keywordId: 'Gone1' }, /'keywordId': the project has no such keyword/],
    [{ ...NOTE, page: 'https://a.example/' }, /'page' is for scope page, not project/],
    [{ ...NOTE, scope: 'page', page: 'javascript:alert(1)' }, /'page' must be an address such as https/],
  ] as const) {
    const refused = await send('owner', 'POST', NOTES, body);
    t.match(refused, { status: 400, code: 'invalid_request', message: name }, JSON.stringify(body));
  }
  t.match(await send('owner', 'POST', NOTES, { ...NOTE, scope: 'keyword', keywordId: 'Kw001' }), {
    status: 201,
    body: { note: { scope: 'keyword', keyword: { id: 'Kw001', query: 'shoes' } } },
  });
});

t.test('one id is looked up, however many keywords and members a project has', async (t) => {
  const ids = Array.from({ length: 300 }, (_, index) => `K${String(index).padStart(4, '0')}`);
  const group = { project_id: 'Proj1', kind: 'manual', parent_id: null, position: 1, pinned: false, rule: null };
  const { send, catalog } = await makeTeam(t, {
    keywords: ids.map((id) => keyword(id, `query ${id}`)),
    groups: [
      { ...group, id: 'Grp01', name: 'All' },
      { ...group, id: 'Grp02', name: 'One' },
    ],
    group_members: [
      ...ids.map((id) => ({ project_id: 'Proj1', group_id: 'Grp01', keyword_id: id })),
      { project_id: 'Proj1', group_id: 'Grp02', keyword_id: 'K0007' },
    ],
  });
  const read = countRows(t, catalog);
  const note = { ...NOTE, scope: 'keyword', keywordId: 'K0007' };
  t.match(await send('admin', 'POST', NOTES, note), { status: 201, body: { note: { keyword: { id: 'K0007' } } } });
  t.match(await send('admin', 'POST', NOTES, { ...note, keywordId: 'Nope1' }), { status: 400, message: /'keywordId'/ });
  t.match(await send('admin', 'POST', NOTES, { ...NOTE, scope: 'group', groupId: 'Grp02' }), { status: 201 });
  t.match(await send('admin', 'POST', NOTES, { ...NOTE, scope: 'group', groupId: 'Nope1' }), {
    ...{ status: 400, message: /'groupId'/ },
  });
  const renamed = await send('admin', 'PATCH', '/projects/Proj1/groups/Grp02', { name: 'Two' });
  t.match(renamed.body, { group: { name: 'Two', keywordIds: ['K0007'] } });
  t.ok(read.rows < ids.length, `${read.rows} rows were read`);
});

/** Counts the rows that transactions of a catalog read from now on. */
function countRows(t: Test, catalog: Catalog): { rows: number } {
  const counted = { rows: 0 };
  const counting = ({ statements, ...tx }: Catalog): Catalog => ({
    ...tx,
    snapshot: (reads) => reads(counting({ statements, ...tx })),
    cachedSnapshot: (reads) => reads(counting({ statements, ...tx })),
    transaction: (writes) => writes(counting({ statements, ...tx })),
    statements: {
      get: (...of) => statements.get(...of),
      all: async <Row>(...of: Parameters<Catalog['statements']['all']>) => {
        const rows = await statements.all<Row>(...of);
        counted.rows += rows.length;
        return rows;
      },
      each: async function* <Row>(...of: Parameters<Catalog['statements']['each']>) {
        for await (const rows of statements.each<Row>(...of)) {
          counted.rows += rows.length;
          yield rows;
        }
      },
      run: (...of) => statements.run(...of),
      send: (...of) => statements.send(...of),
      runEach: (...of) => statements.runEach(...of),
    },
  });
  const transaction = catalog.transaction.bind(catalog);
  t.intercept(catalog, 'transaction', {
    value: (writes: Parameters<typeof transaction>[0], ...lock: [LoadLock?]) =>
      transaction((tx) => writes(counting(tx)), ...lock),
  });
  return counted;
}

t.test('by command, and after the catalog was rebuilt', async (t) => {
  const { send, read, dataFolder } = await makeTeam(t);
  const run = (...words: string[]) => command({ ORDINATE_DATA: dataFolder }, 'notes', ...words);
  const deploy = ['add', '--project', 'Proj1', '--page', 'https://acme.example/a', '--text', 'Shorter title'];
  const made = await run(...deploy, '--date', '2026-03-05', '--json');
  t.match(made, { code: 0, stderr: '' });
  t.match(JSON.parse(made.stdout), { note: { scope: 'page', page: 'https://acme.example/a', category: 'other' } });
  t.match(await run('add', '--workspace', 'acme', '--text', 'Everywhere', '--by', 'owner@acme.example'), { code: 0 });
  t.match(await run('add', '--project', 'Proj1', '--text', 'x', '--by', 'nobody@acme.example'), {
    ...{ code: 1, stderr: /'nobody@acme.example' is not a member/ },
  });
  t.match(await run('add', '--text', 'x'), { code: 1, stderr: /Give --project or --workspace/ });
  t.match(await run('add', '--project', 'Proj1', '--text', 'x', '--date', 'today'), {
    code: 1,
    stderr: /'date' must be/,
  });
  const gone = (await send('owner', 'POST', NOTES, NOTE)).body.note.id as string;
  t.match(await run('remove', gone), { code: 0 });
  t.match(await run('remove', gone), { code: 1, stderr: /There is no note/ });
  const { notes } = (await read(NOTES)).body;
  t.match(notes, [{ text: 'Shorter title' }, { text: 'Everywhere', author: 'owner@acme.example' }]);
  t.match(await command({ ORDINATE_DATA: dataFolder }, 'rebuild'), { code: 0 });
  t.strictSame((await read(NOTES)).body.notes, notes);
  const listed = await run('list', '--workspace', 'acme', '--json');
  t.match(JSON.parse(listed.stdout), [{ text: 'Everywhere' }]);
});
