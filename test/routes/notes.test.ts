// The notes endpoint lists the notes of a project and its workspace, oldest first.
import t from 'tap';
import { keyword, makeWorld, ofProject, PROJECT, type Row, refusedFor, WORKSPACE } from '../world.ts';

const uuid = (n: number): string => `${String(n).padStart(8, '0')}-0000-4000-8000-0000000000ab`;

const note = (n: number, scope: string, date: string, more: Row = {}): Row => ({
  id: uuid(n),
  workspace_id: 'acme',
  project_id: 'Proj1',
  scope,
  date,
  category: 'content',
  text: `Note ${n}`,
  author: 'Ann',
  created_at: '2026-03-01T00:00:00Z',
  updated_at: '2026-03-01T00:00:00Z',
  ...more,
});

const { ask, get } = await makeWorld(t, {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }],
  projects: [PROJECT, { ...PROJECT, id: 'Sibli' }, { ...PROJECT, id: 'Their', workspace_id: 'other' }],
  keywords: [
    keyword('kwOne', 'one'),
    keyword('kwArc', 'archived', { archived: true }),
    ...ofProject('Sibli', [keyword('kwOne', 'one of the sibling')]),
  ],
  groups: [{ project_id: 'Proj1', id: 'group', name: 'Shoes', kind: 'manual', position: 1 }],
  notes: [
    // to the 20th
    note(1, 'workspace', '2026-01-10', {
      project_id: null,
      end_date: '2026-01-20',
      category: 'launch',
      client_visible: true,
      created_at: '2026-01-09T01:02:03.456Z',
      updated_at: '2026-02-09T01:02:03.456789Z',
    }),
    note(2, 'project', '2026-01-15', { category: 'technical' }),
    // same day and instant: by id
    note(4, 'keyword', '2026-01-25', { keyword_id: 'kwOne', category: 'campaign' }),
    note(3, 'group', '2026-01-25', { group_id: 'group', category: 'migration' }),
    note(5, 'page', '2026-01-25', {
      page: 'https://shop.example/shoes',
      created_at: '2026-02-28T23:59:59Z',
      client_visible: true,
    }),
    note(6, 'keyword', '2026-02-01', { keyword_id: 'kwArc', category: 'other' }),
    note(7, 'project', '2026-01-15', { project_id: 'Sibli' }),
    note(8, 'workspace', '2026-01-15', { workspace_id: 'other', project_id: null }),
    note(9, 'project', '2026-01-15', { workspace_id: 'other', project_id: 'Their' }),
  ],
});

async function idsOf(query: string): Promise<string> {
  const { status, body } = await ask(`/notes?${query}`);
  if (status !== 200) return `${status} ${body.error.message}`;
  return (body.notes as { id: string }[]).map(({ id }) => Number(id.slice(0, 8))).join(' ');
}

t.test('notes of every scope, oldest first', async (t) => {
  const { status, body } = await ask('/notes');
  t.equal(status, 200);
  const shared = {
    endDate: null,
    category: 'content',
    clientVisible: false,
    author: 'Ann',
    group: null,
    keyword: null,
    page: null,
    createdAt: '2026-03-01T00:00:00.000Z',
    updatedAt: '2026-03-01T00:00:00.000Z',
  };
  t.strictSame(body, {
    project: { id: 'Proj1', domain: 'shop.example' },
    notes: [
      {
        ...shared,
        id: uuid(1),
        scope: 'workspace',
        date: '2026-01-10',
        endDate: '2026-01-20',
        category: 'launch',
        text: 'Note 1',
        clientVisible: true,
        createdAt: '2026-01-09T01:02:03.456Z',
        updatedAt: '2026-02-09T01:02:03.456Z',
      },
      { ...shared, id: uuid(2), scope: 'project', date: '2026-01-15', category: 'technical', text: 'Note 2' },
      {
        ...shared,
        id: uuid(5),
        scope: 'page',
        date: '2026-01-25',
        text: 'Note 5',
        clientVisible: true,
        page: 'https://shop.example/shoes',
        createdAt: '2026-02-28T23:59:59.000Z',
      },
      {
        ...shared,
        id: uuid(3),
        scope: 'group',
        date: '2026-01-25',
        category: 'migration',
        text: 'Note 3',
        group: { id: 'group', name: 'Shoes' },
      },
      {
        ...shared,
        id: uuid(4),
        scope: 'keyword',
        date: '2026-01-25',
        category: 'campaign',
        text: 'Note 4',
        keyword: { id: 'kwOne', query: 'one' },
      },
      {
        ...shared,
        id: uuid(6),
        scope: 'keyword',
        date: '2026-02-01',
        category: 'other',
        text: 'Note 6',
        keyword: { id: 'kwArc', query: 'archived' },
      },
    ],
  });
});

t.test('notes of the workspace appear in each of its projects, and in no others', async (t) => {
  t.match((await get('/projects/Sibli/notes')).body.notes, [{ id: uuid(1) }, { id: uuid(7) }]);
  t.equal((await get('/projects/Sibli/notes')).body.notes.length, 2);
});

t.test('from: ends on or after; to: starts on or before', async (t) => {
  t.equal(await idsOf('from=2026-01-20'), '1 5 3 4 6');
  t.equal(await idsOf('from=2026-01-21'), '5 3 4 6');
  t.equal(await idsOf('from=2026-01-15&to=2026-01-15'), '1 2');
  t.equal(await idsOf('to=2026-01-10'), '1');
  t.equal(await idsOf('to=2026-01-09'), '');
  t.equal(await idsOf('from=2026-01-12&to=2026-01-14'), '1');
  t.equal(await idsOf('from=2026-02-01&to=2026-02-01'), '6');
  t.equal(await idsOf('from=2000-01-01&to=2030-01-01'), '1 2 5 3 4 6', 'these are not limited to 486 days');
});

t.test('clientVisible', async (t) => {
  for (const only of ['true', '1']) t.equal(await idsOf(`clientVisible=${only}`), '1 5', only);
  for (const all of ['false', '0']) t.equal(await idsOf(`clientVisible=${all}`), '1 2 5 3 4 6', all);
  t.equal(await idsOf('clientVisible=true&from=2026-01-21'), '5');
});

t.test('invalid parameters', async (t) => {
  refusedFor(t, await ask('/notes?from=2026-01-02&to=2026-01-01'), 'from');
  for (const day of ['2026-13-01', '20260101', 'today', '']) {
    refusedFor(t, await ask(`/notes?from=${day}`), 'from', day);
    refusedFor(t, await ask(`/notes?to=${day}`), 'to', day);
  }
  for (const flag of ['yes', 'True', '2', '']) {
    refusedFor(t, await ask(`/notes?clientVisible=${flag}`), 'clientVisible', flag);
  }
});
