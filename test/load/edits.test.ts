// What people edit while data is loaded waits for nothing and is kept, and no load stores what does not fit it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { findNote } from '../../server/catalog/alerts.ts';
import type { LoadLock, OpenCatalog } from '../../server/catalog/catalog.ts';
import { listKeywords } from '../../server/catalog/keywords.ts';
import { findAnyProject, findProjectsOfProperty } from '../../server/catalog/projects.ts';
import { importSearchConsole } from '../../server/import/search-console.ts';
import { importBulkExport } from '../../server/load/bulk-export.ts';
import { withLoadLock } from '../../server/load/change-facts.ts';
import { type LoadOptions, loadSnapshot } from '../../server/load/load.ts';
import { removeProject } from '../../server/load/remove.ts';
import type { Stores } from '../../server/load/stores.ts';
import { addProject, changeProject } from '../../server/projects/projects.ts';
import { command } from '../command.ts';
import { makeTeam } from '../dashboard/team.ts';
import { writeParquetRows } from '../parquet.ts';
import {
  facts,
  keyword,
  NOW,
  PROJECT,
  type Row,
  type Tables,
  temporaryFolder,
  WORKSPACE,
  writeSnapshot,
} from '../world.ts';

type Team = Awaited<ReturnType<typeof makeTeam>>;

const GROUP = { project_id: 'Proj1', id: 'Grp01', name: 'Shoes', kind: 'manual', position: 1 };
const RULE = {
  ...{ scope: 'group', id: 'Grp01', metric: 'clicks', window: '7d' },
  ...{ against: 'previous', op: 'falls_by', value: 30, unit: 'percent' },
};
const NOTE = {
  ...{ id: '00000001-0000-4000-8000-000000000001', workspace_id: 'acme', project_id: 'Proj1', date: '2026-03-01' },
  ...{ category: 'launch', text: 'New shop', author: 'ada@acme.example', scope: 'project' },
  ...{ created_at: '2026-03-01T00:00:00Z', updated_at: '2026-03-01T00:00:00Z' },
};
const ON_GROUP = { ...NOTE, scope: 'group', group_id: 'Grp01' };
const SITE = facts('date device', ['2026-03-02', 'desktop', 5, 100, 900]);
const WRITTEN = { date: '2026-03-02', category: 'launch', text: 'x' };

const teamOf = (t: Test, more: Tables = {}): Promise<Team> =>
  makeTeam(t, { groups: [GROUP], keywords: [keyword('Kw001', 'shoes')], ...more });

/** Where a load is held: before it looks again beside edits, or before the transaction that publishes it. */
type Point = 'look' | 'commit';

/** A catalog in which something happens after the checks of a load. */
function before(catalog: OpenCatalog, happen: (point: Point) => Promise<unknown>): OpenCatalog {
  let looks = 0;
  const transaction: OpenCatalog['transaction'] = async (writes, lock?: LoadLock) => {
    if (lock !== undefined) await happen('commit');
    return catalog.transaction(writes, lock);
  };
  const snapshot: OpenCatalog['snapshot'] = async (reads) => {
    // The first look is that of the checks.
    if (looks++ > 0) await happen('look');
    return catalog.snapshot(reads);
  };
  return new Proxy(catalog, {
    get: (target, name) => {
      if (name === 'transaction') return transaction;
      if (name === 'snapshot') return snapshot;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

interface Loaded {
  /** `loaded`, or the first problem. */
  readonly outcome: string;
  readonly steps: readonly string[];
}

/** What happens once, at the last moment before a load is published. */
const atLast = (edit: () => Promise<unknown>) => {
  let isDone = false;
  return async (point: Point): Promise<void> => {
    if (isDone || point === 'look') return;
    isDone = true;
    await edit();
  };
};

/** Loads rows while something is edited. */
function loadBeside(
  t: Test,
  team: Team,
  tables: Tables,
  edit: () => Promise<unknown>,
  options: Pick<LoadOptions, 'replace' | 'confirmDelete'> = {},
): Promise<Loaded> {
  return loadHeld(t, team, tables, atLast(edit), options);
}

async function loadHeld(
  t: Test,
  { settings, catalog }: Team,
  tables: Tables,
  happen: (point: Point) => Promise<unknown>,
  options: Pick<LoadOptions, 'replace' | 'confirmDelete'> = {},
): Promise<Loaded> {
  const steps: string[] = [];
  const stores = { settings, catalog: before(catalog, happen) };
  const folder = writeSnapshot(t, tables);
  const outcome = await loadSnapshot(stores, { folder, report: (step) => void steps.push(step), ...options }).then(
    () => 'loaded',
    (error: Error) => error.message,
  );
  return { outcome, steps };
}

/** Sends what must succeed. */
const done =
  (team: Team, ...request: Parameters<Team['send']>) =>
  async (): Promise<Row> => {
    const { status, message, body } = await team.send(...request);
    if (status >= 300) throw new Error(message);
    return body as Row;
  };

const AGAIN = 'checking again after edits';
const NO_EDIT = async (): Promise<void> => {};

t.test('everything is edited while a load runs, in the browser and by command', async (t) => {
  const team = await teamOf(t);
  const { send, catalog, dataFolder } = team;
  const run = (...words: string[]) => command({ ORDINATE_DATA: dataFolder }, ...words);
  await withLoadLock(catalog.locks, { lockTimeout: 0 }, async () => {
    const path = (rest: string): string => `/projects/Proj1/${rest}`;
    const named = (value: string) => ({ match: 'all', conditions: [{ field: 'query', op: 'contains', value }] });
    const page = { match: 'any', conditions: [{ op: 'starts_with', value: '/shop' }] };
    for (const [noun, url, body, change] of [
      ['note', 'notes', WRITTEN, { text: 'y' }],
      ['group', 'groups', { name: 'Boots', kind: 'rule', rule: named('boots') }, { name: 'High boots' }],
      ['pageGroup', 'page-groups', { name: 'Shop', rule: page }, { name: 'The shop' }],
      ['rule', 'rules', { name: 'Falls', rule: RULE }, { enabled: false }],
    ] as const) {
      const added = await send('admin', 'POST', path(url), body);
      t.equal(added.status, 201, `${noun}: ${added.message}`);
      const one = path(`${url}/${added.body[noun].id}`);
      t.match(await send('admin', 'PATCH', one, change), { status: 200, body: { [noun]: change } });
      t.match(await send('admin', 'DELETE', one), { status: 204 });
    }
    const tracked = await send('admin', 'POST', path('keywords'), { queries: ['boots'] });
    t.match(tracked, { status: 201 });
    const boots = path(`keywords/${tracked.body.added[0].id}`);
    t.match(await send('admin', 'PATCH', boots, { archived: true }), {
      status: 200,
      body: { keyword: { archived: true } },
    });
    t.match(await send('admin', 'PUT', path('brand-terms'), { terms: ['acme'] }), { status: 200 });
    for (const words of [
      ['notes', 'add', '--project', 'Proj1', '--text', 'x'],
      ['notes', 'add', '--workspace', 'acme', '--text', 'x'],
      ['keywords', 'add', '--project', 'Proj1', '--query', 'hats'],
      ['keywords', 'archive', '--project', 'Proj1', '--query', 'hats'],
      ['rules', 'add', '--project', 'Proj1', '--name', 'Falls', '--rule', JSON.stringify(RULE)],
      ['projects', 'set', '--project', 'Proj1', '--name', 'Shop'],
    ]) {
      t.match(await run(...words), { code: 0 }, words.join(' '));
    }
  });
});

t.test(
  'a note on a group that is removed meanwhile is refused with all of its load, and spoils no later one',
  async (t) => {
    const team = await teamOf(t);
    const tables = { notes: [ON_GROUP], site_daily: SITE };
    const { outcome } = await loadBeside(
      t,
      team,
      tables,
      done(team, 'owner', 'DELETE', '/projects/Proj1/groups/Grp01'),
    );
    t.match(
      outcome,
      /^notes\.group_id: Something was edited while this load ran: 1 row.* on a group that does not exist/,
    );
    t.match((await team.read('/projects/Proj1/notes')).body, { notes: [] });
    t.match((await team.read('/projects/Proj1/site?from=2026-03-02&to=2026-03-02')).body, { totals: { clicks: 0 } });
    t.match(await loadBeside(t, team, { notes: [NOTE] }, NO_EDIT), { outcome: 'loaded' });
  },
);

t.test('a keyword that is tracked meanwhile is not loaded a second time', async (t) => {
  const team = await teamOf(t);
  const track = (query: string) => done(team, 'owner', 'POST', '/projects/Proj1/keywords', { queries: [query] });
  const boots = await loadBeside(t, team, { keywords: [keyword('Kw002', 'boots')] }, track('boots'));
  t.match(boots.outcome, /^keywords\.query: .*that several keywords of a project have/);
  t.match(await loadBeside(t, team, { keywords: [keyword('Kw003', 'hats')] }, NO_EDIT), { outcome: 'loaded' });

  const many = Array.from({ length: 10_500 }, (_, at) =>
    keyword(`K${String(at).padStart(4, '0')}`.slice(-5), `q ${at}`),
  );
  const large = await loadBeside(t, team, { keywords: many }, track('q 10499'));
  t.match(large.outcome, /^keywords\.query: .*q 10499/s, 'nor a late row of a large snapshot');
  const queries = (await team.read('/projects/Proj1/keywords?limit=100')).body.keywords as { query: string }[];
  t.strictSame(queries.map(({ query }) => query).sort(), ['boots', 'hats', 'q 10499', 'shoes']);
});

t.test('a load goes on beside edits that it fits, and checks again only for those of its owners', async (t) => {
  const team = await teamOf(t, { projects: [PROJECT, { ...PROJECT, id: 'Other', workspace_id: 'other' }] });
  const edited = done(team, 'owner', 'PATCH', '/projects/Proj1/groups/Grp01', { name: 'All shoes' });
  const ofGroup = await loadBeside(t, team, { notes: [ON_GROUP], site_daily: SITE }, edited);
  t.match(ofGroup, { outcome: 'loaded' });
  t.ok(ofGroup.steps.includes(AGAIN));
  const groups = (await team.read('/projects/Proj1/groups')).body.groups as { name: string }[];
  t.strictSame(
    groups.map(({ name }) => name),
    ['All shoes'],
  );
  t.match((await team.read('/projects/Proj1/notes')).body, {
    notes: [{ scope: 'group', group: { name: 'All shoes' } }],
  });

  const checksAgain = async (tables: Tables, edit: () => Promise<unknown>): Promise<boolean> => {
    const { outcome, steps } = await loadBeside(t, team, tables, edit);
    t.equal(outcome, 'loaded');
    return steps.includes(AGAIN);
  };
  const run = (words: string) => () => command({ ORDINATE_DATA: team.dataFolder }, ...words.split(' '));
  const ofWorkspace = { ...NOTE, id: '00000001-0000-4000-8000-000000000002', project_id: null, scope: 'workspace' };
  t.notOk(
    await checksAgain({ site_daily: SITE }, done(team, 'owner', 'POST', '/projects/Proj1/notes', WRITTEN)),
    'facts',
  );
  t.notOk(await checksAgain({ notes: [NOTE] }, done(team, 'other', 'POST', '/projects/Other/notes', WRITTEN)));
  t.notOk(await checksAgain({ notes: [ofWorkspace] }, run('notes add --workspace other --text x')));
  t.ok(await checksAgain({ notes: [ofWorkspace] }, run('notes add --workspace acme --text x')));
  t.ok(await checksAgain({ workspaces: [WORKSPACE] }, run('notes add --workspace acme --text x')));
  t.ok(await checksAgain({ projects: [PROJECT] }, done(team, 'owner', 'POST', '/projects/Proj1/notes', WRITTEN)));
});

t.test('a load that replaces entities removes also what was added meanwhile', async (t) => {
  const team = await teamOf(t);
  const added = done(team, 'owner', 'POST', '/projects/Proj1/keywords', { queries: ['boots'] });
  const tables = { keywords: [keyword('Kw001', 'shoes')] };
  t.match(await loadBeside(t, team, tables, added, { replace: true }), { outcome: 'loaded' });
  const queries = (await team.read('/projects/Proj1/keywords')).body.keywords as { query: string }[];
  t.strictSame(
    queries.map(({ query }) => query),
    ['shoes'],
  );
});

t.test('what is edited while facts are written is looked at before edits would have to wait', async (t) => {
  const team = await teamOf(t);
  const points: Point[] = [];
  const tables = { notes: [ON_GROUP], site_daily: SITE };
  const note = done(team, 'owner', 'POST', '/projects/Proj1/notes', WRITTEN);
  const held = await loadHeld(t, team, tables, async (point) => {
    points.push(point);
    if (points.length === 1) await note();
  });
  t.equal(held.outcome, 'loaded');
  t.strictSame(points, ['look', 'look', 'commit'], 'until nothing more was edited');
  t.equal(held.steps.filter((step) => step === AGAIN).length, 1);

  const always = await loadHeld(t, team, tables, async (point) => {
    points.push(point);
    await note();
  });
  t.equal(always.outcome, 'loaded');
  t.strictSame(points.slice(3), ['look', 'look', 'look', 'commit'], 'not for ever');
  t.equal(always.steps.filter((step) => step === AGAIN).length, 4);

  const removed = await loadHeld(
    t,
    team,
    { notes: [{ ...ON_GROUP, id: NOTE.id.replace('01-', '03-') }] },
    async (point) => {
      points.push(point);
      for (const { id } of (await team.read('/projects/Proj1/notes')).body.notes as { id: string }[])
        await done(team, 'owner', 'DELETE', `/projects/Proj1/notes/${id}`)();
      await done(team, 'owner', 'DELETE', '/projects/Proj1/groups/Grp01')();
    },
  );
  t.match(
    removed.outcome,
    /^notes\.group_id: Something was edited while this load ran: .* on a group that does not exist/s,
  );
  t.strictSame(points.slice(7), ['look'], 'and refused without a transaction');
});

t.test('ten loads end while people edit before and beside their commits: no edit fails, none is lost', async (t) => {
  const team = await teamOf(t);
  const { send } = team;
  const path = (rest: string): string => `/projects/Proj1/${rest}`;
  const GRP = path('groups/Grp01');
  let rounds = 0;
  /** What five people do at once: two of them save the same group, having read the same version. */
  const round = async (): Promise<void> => {
    const of = rounds++;
    const { version } = (await send('owner', 'GET', GRP)).body as { version: string };
    const match = { 'if-match': `"${version}"` };
    const [note, added, terms, ...both] = await Promise.all([
      send('member', 'POST', path('notes'), WRITTEN),
      send('admin', 'POST', path('keywords'), { queries: [`edited ${of}`] }),
      send('admin', 'PUT', path('brand-terms'), { terms: [`t ${of}`] }),
      send('owner', 'PATCH', GRP, { name: `owner ${of}` }, match),
      send('admin', 'PATCH', GRP, { name: `admin ${of}` }, match),
    ]);
    t.strictSame([note.status, added.status, terms.status], [201, 201, 200], `round ${of}`);
    t.strictSame(new Set(both.map(({ status }) => status)), new Set([200, 409]), `round ${of}`);
  };
  for (let load = 0; load < 10; load++) {
    const waiting: Promise<void>[] = [];
    const tables = { notes: [ON_GROUP], keywords: [keyword(`Ld0${load}0`, `loaded ${load}`)], site_daily: SITE };
    const { outcome } = await loadHeld(t, team, tables, async (point) => {
      if (point === 'look') return;
      await round();
      // This one meets the transaction that publishes the load.
      waiting.push(round());
    });
    t.equal(outcome, 'loaded');
    await Promise.all(waiting);
  }
  t.equal(((await team.read(path('notes'))).body.notes as readonly Row[]).length, rounds + 1);
  const keywords = await listKeywords(team.catalog, 'Proj1');
  const count = (what: string): number => keywords.filter(({ query }) => query.startsWith(what)).length;
  t.strictSame([count('loaded'), count('edited')], [10, rounds]);
});

t.test('a note on a project that is removed meanwhile goes with it', async (t) => {
  const team = await makeTeam(t);
  const ids: string[] = [];
  const noteOn = (project: string) => async (): Promise<void> => {
    const { note } = (await done(team, 'member', 'POST', `/projects/${project}/notes`, WRITTEN)()) as {
      note: { id: string };
    };
    ids.push(note.id);
  };
  const rest = { workspaces: [WORKSPACE], projects: [PROJECT], site_daily: SITE };
  const gone = { status: 404, code: 'not_found' };
  t.match(await loadBeside(t, team, rest, noteOn('Proj2'), { replace: true, confirmDelete: ['Proj2'] }), {
    outcome: 'loaded',
  });
  t.match(await team.send('member', 'POST', '/projects/Proj2/notes', WRITTEN), gone);
  t.match((await team.read('/projects/Proj1/site?from=2026-03-02&to=2026-03-02')).body, { totals: { clicks: 5 } });

  const held = { settings: team.settings, catalog: before(team.catalog, atLast(noteOn('Proj1'))) };
  t.match(await removeProject(held, 'Proj1', () => {}), { id: 'Proj1' });
  t.match(await team.send('member', 'POST', '/projects/Proj1/notes', WRITTEN), gone);
  t.strictSame(await Promise.all(ids.map((id) => findNote(team.catalog, id))), [undefined, undefined]);
});

/** A bulk export of one day with the clicks of each query. */
async function bulkExportOf(
  t: Test,
  day: string,
  clicks: Readonly<Record<string, number>>,
  property: string,
): Promise<string> {
  const folder = temporaryFolder(t);
  const rows = Object.entries(clicks).map(([query, count]) => ({
    ...{ data_date: day, site_url: property, url: 'https://shop.example/a', query, is_anonymized_query: false },
    ...{ country: 'usa', search_type: 'WEB', device: 'DESKTOP', impressions: 10, clicks: count, sum_position: 20 },
  }));
  await writeParquetRows(join(folder, 'part.parquet'), rows);
  return folder;
}

/** Imports a bulk export of one day while something is edited. */
async function importBeside(
  t: Test,
  { settings, catalog }: Team,
  day: string,
  { trackTop = 0 }: { readonly trackTop?: number },
  edit: () => Promise<unknown>,
): Promise<void> {
  const property = String(PROJECT['property']);
  const folder = await bulkExportOf(t, day, { shoes: 10, boots: 9, hats: 8 }, property);
  const stores = { settings, catalog: before(catalog, atLast(edit)) };
  await importBulkExport(stores, { paths: [folder], workspace: 'acme', property, trackTop });
}

/** The clicks of each tracked query from a day to another; null where some are unknown. */
async function clicksOn(team: Team, from: string, to = from): Promise<Row> {
  type Keyword = { readonly query: string; readonly metrics: Row };
  const { body } = await team.read(`/projects/Proj1/keywords?from=${from}&to=${to}`);
  return Object.fromEntries((body.keywords as Keyword[]).map(({ query, metrics }) => [query, metrics['clicks']]));
}

t.test(
  'an import keeps what is edited while it runs, and says nothing of keywords that it does not know',
  async (t) => {
    const team = await makeTeam(t, { projects: [PROJECT], keywords: [keyword('Kw001', 'shoes')] });
    const { send } = team;
    const clicks = (day: string) => clicksOn(team, day);
    await importBeside(t, team, '2026-03-01', {}, NO_EDIT);
    await importBeside(t, team, '2026-03-02', {}, async () => {
      await done(team, 'owner', 'PUT', '/projects/Proj1/brand-terms', { terms: ['shoe shop'] })();
      await changeProject(team.catalog, 'Proj1', { name: 'My shop' });
      await done(team, 'owner', 'POST', '/projects/Proj1/keywords', { queries: ['boots'] })();
    });
    t.match((await send('owner', 'GET', '/projects/Proj1/brand-terms')).body, { terms: ['shoe shop'] });
    t.match(await findAnyProject(team.catalog, 'Proj1'), { domain: 'My shop' });
    t.strictSame(await clicks('2026-03-01'), { shoes: 10, boots: null }, 'stored before it was tracked');
    t.strictSame(await clicks('2026-03-02'), { shoes: 10, boots: null }, 'stored by an import that did not know it');

    let times = 0;
    await importBeside(t, team, '2026-03-03', { trackTop: 3 }, async () => {
      times++;
      await done(team, 'owner', 'POST', '/projects/Proj1/keywords', { queries: ['hats'] })();
    });
    t.equal(times, 1);
    t.strictSame(await clicks('2026-03-03'), { shoes: 10, boots: 9, hats: 8 }, 'begun again, it has what was tracked');
  },
);

t.test('a query that is tracked while the first import runs is unknown on its days', async (t) => {
  const team = await makeTeam(t, { projects: [PROJECT] });
  const track = done(team, 'owner', 'POST', '/projects/Proj1/keywords', { queries: ['boots'] });
  await importBeside(t, team, '2026-03-01', {}, track);
  await importBeside(t, team, '2026-03-02', {}, NO_EDIT);
  t.strictSame(await clicksOn(team, '2026-03-02'), { boots: 9 });
  t.strictSame(await clicksOn(team, '2026-03-01', '2026-03-02'), { boots: null });
});

/** Importers, by what they read: a day of a property with seven clicks. */
const IMPORTS = {
  'a bulk export': async (t: Test, stores: Stores, property: string) => {
    const folder = await bulkExportOf(t, '2026-03-01', { shoes: 7 }, property);
    return importBulkExport(stores, { paths: [folder], workspace: 'acme', property });
  },
  'files of the user interface': (t: Test, stores: Stores, property: string) => {
    const file = join(temporaryFolder(t), 'Chart.csv');
    writeFileSync(file, 'Date,Clicks,Impressions,CTR,Position\n2026-03-01,7,100,7%,5.4\n');
    return importSearchConsole(stores, { paths: [file], workspace: 'acme', property });
  },
};
const CONNECTION = {
  ...{ kind: 'search-console', grant: null, credentials: null, endpoint: null, tokenEndpoint: null, dataset: null },
  location: null,
  archive: 'none',
} as const;

t.test('an import and a member who connects the same property at the same time make one project of it', async (t) => {
  const property = 'sc-domain:new.example';
  for (const [name, bring] of Object.entries(IMPORTS)) {
    const team = await makeTeam(t);
    const connect = () =>
      addProject(
        team.catalog,
        {
          ...{ workspace: 'acme', property, brandTerms: ['shop'], country: null, name: 'Mine', onlyOf: 'property' },
          ...{ queries: ['shoes'], source: 'manual', connection: CONNECTION },
        },
        { by: 'owner@acme.example', at: NOW * 1000 },
      );
    let made: string | undefined;
    const edit = async (): Promise<void> => {
      made = (await connect()).id;
    };
    const stores = { settings: team.settings, catalog: before(team.catalog, atLast(edit)) };
    const imported = await bring(t, stores, property);
    t.match(imported, { project: { id: made, created: false } }, name);
    const projects = await findProjectsOfProperty(team.catalog, 'acme', property);
    t.strictSame(
      projects.map(({ id, domain }) => [id, domain]),
      [[made, 'Mine']],
      name,
    );
    t.match((await team.read(`/projects/${made}/site?from=2026-03-01&to=2026-03-01`)).body, { totals: { clicks: 7 } });
    await t.rejects(connect(), { code: 'conflict' }, 'and who connects it after the import is told so');
  }
});
