// A load raises the revisions of what it changes and of nothing else, so that no answer is outdated.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { listAllProjects } from '../../server/catalog/projects.ts';
import { localOnly } from '../stores.ts';
import {
  facts,
  keyword,
  makeWorld,
  ofProject,
  PROJECT,
  type Row,
  type Tables,
  WORKSPACE,
  type World,
} from '../world.ts';

const OTHER = { ...PROJECT, id: 'Proj2' };
const KEYWORDS = [keyword('Kw001', 'red shoes'), keyword('Kw002', 'blue shoes', { archived: true })];
const group = (id: string, more: Row = {}): Row => ({
  project_id: 'Proj1',
  id,
  name: id,
  kind: 'manual',
  position: 1,
  ...more,
});
const UUID = '11111111-1111-4111-8111-111111111111';
const ALERT = {
  id: UUID,
  project_id: 'Proj1',
  type: 'a',
  kind: 'a',
  severity: 'info',
  title: 'a',
  body: '',
  created_at: '2026-03-01T00:00:00Z',
};
const NOTE = {
  id: UUID,
  workspace_id: 'acme',
  scope: 'workspace',
  date: '2026-03-01',
  category: 'other',
  text: 'a',
  author: 'a',
  created_at: '2026-03-01T00:00:00Z',
  updated_at: '2026-03-01T00:00:00Z',
};

/** What a load changes: the projects by the revision that it raises. */
async function raisedBy({ catalog, load }: World, tables: Tables, options?: { replace?: boolean }) {
  const before = new Map((await listAllProjects(catalog, null)).map((project) => [project.id, project]));
  await load(tables, options);
  const after = await listAllProjects(catalog, null);
  const raised = (which: 'factsRevision' | 'entitiesRevision'): string =>
    after
      .filter((project) => project[which] !== before.get(project.id)?.[which])
      .map(({ id }) => id)
      .join(' ');
  return { facts: raised('factsRevision'), entities: raised('entitiesRevision') };
}

t.test('a load raises the revisions of what it changes, and of nothing else', localOnly, async (t) => {
  const away = { ...PROJECT, id: 'Away1', workspace_id: 'other' };
  const base = {
    workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }],
    projects: [PROJECT, OTHER, away],
    keywords: KEYWORDS,
    groups: [group('Group')],
    group_members: [{ project_id: 'Proj1', group_id: 'Group', keyword_id: 'Kw001' }],
  };
  const world = await makeWorld(t, base);
  const changedWorkspace = (more: Row) => ({ workspaces: [{ ...WORKSPACE, ...more }] });
  const steps: readonly (readonly [
    what: string,
    tables: Tables,
    facts: string,
    entities: string,
    replace?: boolean,
  ])[] = [
    ['all of it again', base, '', ''],
    ['all of it again, in place of what is there', base, '', '', true],
    [
      'one project, beside others that are what they were',
      { projects: [{ ...PROJECT, synced_through: '2026-03-11' }, OTHER, away] },
      '',
      'Proj1',
    ],
    [
      'days of another project',
      { site_daily: ofProject('Proj2', facts('date device', ['2026-03-09', 'mobile', 1, 2, 3])) },
      'Proj2',
      '',
    ],
    [
      'a keyword that is not archived any more, beside one that is what it was',
      { keywords: [KEYWORDS[0]!, keyword('Kw002', 'blue shoes')] },
      '',
      'Proj1',
    ],
    ['a keyword that goes', { keywords: KEYWORDS.slice(0, 1) }, '', 'Proj1', true],
    ['a group with another name', { groups: [group('Group', { name: 'new' })] }, '', 'Proj1'],
    ['a member that goes', { groups: [group('Group', { name: 'new' })], group_members: [] }, '', 'Proj1', true],
    [
      'a page group',
      {
        page_groups: [
          { project_id: 'Proj1', id: 'Pages', name: 'a', position: 1, rule: { match: 'all', conditions: [] } },
        ],
      },
      '',
      'Proj1',
    ],
    [
      'alerts, notes, and the name and plan of a workspace, which nothing cached depends on',
      { alerts: [ALERT], notes: [NOTE], ...changedWorkspace({ name: 'New', plan: 'solo' }) },
      '',
      '',
    ],
    ['a shorter history', changedWorkspace({ name: 'New', plan: 'solo', keyword_history_days: 30 }), '', 'Proj1 Proj2'],
    [
      'the other project',
      { projects: [{ ...OTHER, domain: 'new.example' }], keywords: ofProject('Proj2', KEYWORDS) },
      '',
      'Proj2',
    ],
    ['a new project', { projects: [{ ...PROJECT, id: 'Fresh' }] }, 'Fresh', 'Fresh'],
  ];
  const db = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'));
  t.teardown(() => db.close());
  const counts = db.prepare(
    'select p.id, count(k.id) as count from projects p left join keywords k on k.project_id = p.id and k.archived = 0 group by p.id order by p.id',
  );
  for (const [what, tables, factsOf, entitiesOf, replace = false] of steps) {
    t.strictSame(await raisedBy(world, tables, { replace }), { facts: factsOf, entities: entitiesOf }, what);
    const stored = (await listAllProjects(world.catalog, null)).map(({ id, trackedKeywords: count }) => ({
      id,
      count,
    }));
    t.strictSame(
      stored.sort((a, b) => (a.id < b.id ? -1 : 1)),
      counts.all().map((row) => ({ ...row })),
      `${what}: keywords counted`,
    );
  }
  const fresh = (await listAllProjects(world.catalog, null)).find(({ id }) => id === 'Fresh');
  const highest = Math.max(
    ...(await listAllProjects(world.catalog, null)).map(({ entitiesRevision }) => entitiesRevision),
  );
  t.match(fresh, { factsRevision: highest, entitiesRevision: highest }, 'both of a new project are new numbers');
});

t.test('what has been answered is answered anew after a change of facts, of entities, or of the plan', async (t) => {
  const world = await makeWorld(t, {
    keywords: [keyword('Kw001', 'red shoes')],
    keyword_daily: facts('keyword_id date device', ['Kw001', '2026-03-09', 'mobile', 1, 2, 3]),
  });
  const PATH = '/keywords?period=60d';
  const seen = async () => {
    const { range, keywords } = (await world.ask(PATH)).body;
    return {
      from: range.from,
      keywords: keywords.map(
        ({ query, metrics }: { query: string; metrics: { clicks: number } }) => `${query} ${metrics.clicks}`,
      ),
    };
  };
  t.strictSame(await seen(), { from: '2026-01-10', keywords: ['red shoes 1'] });
  await world.load({ keyword_daily: facts('keyword_id date device', ['Kw001', '2026-03-09', 'mobile', 5, 6, 3]) });
  t.strictSame(await seen(), { from: '2026-01-10', keywords: ['red shoes 5'] });
  await world.load({ keywords: [keyword('Kw001', 'blue shoes')] });
  t.strictSame(await seen(), { from: '2026-01-10', keywords: ['blue shoes 5'] });
  await world.load({ workspaces: [{ ...WORKSPACE, keyword_history_days: 30 }] });
  t.strictSame(await seen(), { from: '2026-02-09', keywords: ['blue shoes 5'] });
});

t.test('a load inside the serving process: requests see the state before it or the state after it', async (t) => {
  const keywords = (version: number) =>
    Array.from({ length: 50 }, (_, at) => keyword(`Kw${100 + at}`, `v${version} ${at}`));
  const tables = (version: number): Tables => ({
    projects: [{ ...PROJECT, domain: `v${version}.example` }],
    keywords: keywords(version),
    site_daily: facts('date device', ['2026-03-09', 'mobile', version, 1000, 3]),
  });
  const world = await makeWorld(t, tables(1));
  const wrong: string[] = [];
  let asked = 0;
  let expected = 1;
  const ask = async (): Promise<void> => {
    const [site, listed, groups] = await Promise.all(
      ['/site?period=7d', '/keywords?limit=1', '/groups'].map(world.ask),
    );
    asked++;
    const versions = [
      site!.body.project?.domain,
      `v${site!.body.totals?.clicks}.example`,
      listed!.body.project?.domain,
      `${listed!.body.keywords?.[0]?.query.split(' ')[0]}.example`,
    ];
    if (groups!.status !== 200 || new Set(versions).size !== 1 || versions[0] !== `v${expected}.example`) {
      wrong.push(JSON.stringify([site!.status, listed!.status, groups!.status, ...versions]));
    }
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
  for (const version of [2, 3, 4]) {
    await world.load(tables(version));
    expected = version;
    await ask();
  }
  t.equal(asked, 9);
  t.strictSame(wrong, []);
});
