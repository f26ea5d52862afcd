// A load raises the revisions of what it changes and of nothing else, so that no answer is outdated.
import t from 'tap';
import { listAllProjects } from '../../server/catalog/projects.ts';
import { localOnly } from '../stores.ts';
import { facts, keyword, makeWorld, ofProject, PROJECT, type Row, type Tables, WORKSPACE } from '../world.ts';
import { EVERYTHING } from './snapshots.ts';

const OTHER = { ...PROJECT, id: 'Proj2' };
const KEYWORDS = [keyword('Kw001', 'red shoes'), keyword('Kw002', 'blue shoes', { archived: true })];
const GROUP = { project_id: 'Proj1', id: 'Group', name: 'a', kind: 'manual', position: 1 };
const BASE: Tables = {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }],
  projects: [PROJECT, OTHER, { ...PROJECT, id: 'Away1', workspace_id: 'other' }],
  keywords: KEYWORDS,
  groups: [GROUP],
  group_members: [{ project_id: 'Proj1', group_id: 'Group', keyword_id: 'Kw001' }],
};
const workspace = (more: Row): Tables => ({ workspaces: [{ ...WORKSPACE, ...more }] });
const [alert, [note]] = [EVERYTHING['alerts']![0]!, EVERYTHING['notes']!];

/** Loads one after the other, and the projects whose facts, whose entities they change; then the tracked keywords of Proj1. */
const STEPS: readonly (readonly [
  what: string,
  Tables,
  facts: string,
  entities: string,
  tracked: number,
  'replace'?,
])[] = [
  ['all of it again', BASE, '', '', 1],
  ['all of it again, in place of what is there', BASE, '', '', 1, 'replace'],
  ['one of several', { projects: [{ ...PROJECT, synced_through: '2026-03-11' }, OTHER] }, '', 'Proj1', 1],
  [
    'days of another project',
    { site_daily: ofProject('Proj2', facts('date device', ['2026-03-09', 'mobile', 1, 2, 3])) },
    'Proj2',
    '',
    1,
  ],
  ['a keyword of two', { keywords: [KEYWORDS[0]!, keyword('Kw002', 'blue shoes')] }, '', 'Proj1', 2],
  ['a keyword that goes', { keywords: KEYWORDS.slice(0, 1) }, '', 'Proj1', 1, 'replace'],
  ['a group', { groups: [{ ...GROUP, name: 'new' }] }, '', 'Proj1', 1],
  ['a member that goes', { groups: [{ ...GROUP, name: 'new' }], group_members: [] }, '', 'Proj1', 1, 'replace'],
  ['a page group', { page_groups: EVERYTHING['page_groups']! }, '', 'Proj1', 1],
  [
    'what nothing cached depends on',
    { alerts: [{ ...alert, keyword_id: null }], notes: [note!], ...workspace({ name: 'New', plan: 'solo' }) },
    '',
    '',
    1,
  ],
  ['a shorter history', workspace({ name: 'New', plan: 'solo', keyword_history_days: 30 }), '', 'Proj1 Proj2', 1],
  [
    'the other project',
    { projects: [{ ...OTHER, domain: 'b' }], keywords: ofProject('Proj2', KEYWORDS) },
    '',
    'Proj2',
    1,
  ],
  ['a new project', { projects: [{ ...PROJECT, id: 'Fresh' }] }, 'Fresh', 'Fresh', 1],
];

t.test('a load raises the revisions of what it changes, and of nothing else', localOnly, async (t) => {
  const { catalog, load } = await makeWorld(t, BASE);
  const found: unknown[] = [];
  for (const [what, tables, , , , replace] of STEPS) {
    const before = new Map((await listAllProjects(catalog, null)).map((project) => [project.id, project]));
    await load(tables, { replace: replace === 'replace' });
    const after = await listAllProjects(catalog, null);
    const raised = (which: 'factsRevision' | 'entitiesRevision'): string =>
      after
        .filter((project) => project[which] !== before.get(project.id)?.[which])
        .map(({ id }) => id)
        .join(' ');
    const tracked = after.find(({ id }) => id === 'Proj1')?.trackedKeywords;
    found.push([what, raised('factsRevision'), raised('entitiesRevision'), tracked]);
  }
  t.strictSame(
    found,
    STEPS.map(([what, , facts, entities, tracked]) => [what, facts, entities, tracked]),
  );
  const all = await listAllProjects(catalog, null);
  const highest = Math.max(...all.map(({ entitiesRevision }) => entitiesRevision));
  t.match(
    all.find(({ id }) => id === 'Fresh'),
    { factsRevision: highest, entitiesRevision: highest },
    'both of a new project are new numbers',
  );
});

t.test('a load inside the serving process: requests see the state before it or the state after it', async (t) => {
  const tables = (version: number): Tables => ({
    projects: [{ ...PROJECT, domain: `v${version}.example` }],
    keywords: Array.from({ length: 50 }, (_, at) => keyword(`Kw${100 + at}`, `v${version} ${at}`)),
    site_daily: facts('date device', ['2026-03-09', 'mobile', version, 1000, 3]),
  });
  const world = await makeWorld(t, tables(1));
  const seen: unknown[] = [];
  const ask = async (): Promise<void> => {
    const [site, listed, groups] = await Promise.all(
      ['/site?period=7d', '/keywords?limit=1', '/groups'].map(world.ask),
    );
    const [, version] = /^v(\d)/.exec(listed!.body.keywords[0].query as string)!;
    seen.push([
      site!.body.project.domain,
      listed!.body.project.domain,
      site!.body.totals.clicks,
      version,
      groups!.status,
    ]);
  };
  const { catalog } = world;
  const transaction = catalog.transaction.bind(catalog);
  catalog.transaction = (writes, lock) =>
    transaction(async (tx) => {
      await ask();
      const written = await writes(tx);
      // All is written and nothing is committed.
      await ask();
      return written;
    }, lock);
  for (const version of [2, 3]) {
    await world.load(tables(version));
    await ask();
  }
  const answers = (version: number) => [`v${version}.example`, `v${version}.example`, version, String(version), 200];
  t.strictSame(seen, [1, 1, 2, 2, 2, 3].map(answers));
});

t.test('a load that commits while a list is computed costs nobody an answer', async (t) => {
  const rows = Array.from({ length: 3000 }, (_, index) => ['2026-03-09', `query ${index}`, 'usa', 1, 2, 3] as const);
  const world = await makeWorld(t, { query_daily: facts('date query country', ...rows) });
  const asking = world.ask('/queries?period=7d&limit=1');
  await world.catalog.statements.run('revisions.next');
  await world.catalog.statements.run('revisions.change_facts', { id: 'Proj1' });
  t.match(await asking, { status: 200, body: { paging: { total: 3000 } } });
});
