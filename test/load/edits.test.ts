// What people edit while data is loaded waits for nothing and is kept, and no load stores what does not fit it.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { LoadLock, OpenCatalog } from '../../server/catalog/catalog.ts';
import { importBulkExport } from '../../server/load/bulk-export.ts';
import { withLoadLock } from '../../server/load/change-facts.ts';
import { loadSnapshot } from '../../server/load/load.ts';
import { command } from '../command.ts';
import { makeTeam } from '../dashboard/team.ts';
import { writeParquetRows } from '../parquet.ts';
import { facts, keyword, PROJECT, type Row, type Tables, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';

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

/** A catalog in which something happens between the checks of a load and the transaction that publishes it. */
function before(catalog: OpenCatalog, happen: () => Promise<unknown>, times = 1): OpenCatalog {
  let left = times;
  const transaction: OpenCatalog['transaction'] = async (writes, lock?: LoadLock) => {
    if (lock !== undefined && left-- > 0) await happen();
    return catalog.transaction(writes, lock);
  };
  return new Proxy(catalog, {
    get: (target, name) => {
      if (name === 'transaction') return transaction;
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

/** Loads rows while something is edited. */
async function loadBeside(
  t: Test,
  { settings, catalog }: Team,
  tables: Tables,
  edit: () => Promise<unknown>,
  options: { readonly replace?: boolean } = {},
): Promise<Loaded> {
  const steps: string[] = [];
  const stores = { settings, catalog: before(catalog, edit) };
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

const AGAIN = 'checking again what was edited';
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
    t.match(outcome, /^notes\.group_id: 1 row.* on a group that does not exist/);
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

t.test('loads end while people edit all the time, and lose nothing of it', async (t) => {
  const team = await teamOf(t);
  let isLoading = true;
  const statuses: number[] = [];
  const editing = (async () => {
    while (isLoading) statuses.push((await team.send('member', 'POST', '/projects/Proj1/notes', WRITTEN)).status);
  })();
  const folder = writeSnapshot(t, { notes: [ON_GROUP], site_daily: SITE });
  for (let load = 0; load < 5; load++) await loadSnapshot(team, { folder });
  isLoading = false;
  await editing;
  t.strictSame([...new Set(statuses)], [201]);
  const { notes } = (await team.read('/projects/Proj1/notes')).body as { notes: readonly Row[] };
  t.equal(notes.length, statuses.length + 1);
});

/** Imports a bulk export of one day with one click of each query, while something is edited. */
async function importBeside(
  t: Test,
  { settings, catalog }: Team,
  day: string,
  options: { readonly queries: readonly string[]; readonly trackTop?: number },
  edit: () => Promise<unknown>,
): Promise<void> {
  const property = String(PROJECT['property']);
  const folder = temporaryFolder(t);
  const rows = options.queries.map((query, at) => ({
    ...{ data_date: day, site_url: property, url: 'https://shop.example/a', query, is_anonymized_query: false },
    ...{ country: 'usa', search_type: 'WEB', device: 'DESKTOP', impressions: 10, clicks: 10 - at, sum_position: 20 },
  }));
  await writeParquetRows(join(folder, 'part.parquet'), rows);
  const { trackTop = 0 } = options;
  const stores = { settings, catalog: before(catalog, edit) };
  await importBulkExport(stores, { paths: [folder], workspace: 'acme', property, trackTop });
}

t.test(
  'an import keeps what is edited while it runs, and says nothing of keywords that it does not know',
  async (t) => {
    const team = await makeTeam(t, { projects: [PROJECT], keywords: [keyword('Kw001', 'shoes')] });
    const { send } = team;
    const queries = ['shoes', 'boots', 'hats'];
    await importBeside(t, team, '2026-03-01', { queries }, async () => {});
    await importBeside(t, team, '2026-03-02', { queries }, async () => {
      await done(team, 'owner', 'PUT', '/projects/Proj1/brand-terms', { terms: ['shoe shop'] })();
      await done(team, 'owner', 'POST', '/projects/Proj1/keywords', { queries: ['boots'] })();
    });
    t.match((await send('owner', 'GET', '/projects/Proj1/brand-terms')).body, { terms: ['shoe shop'] });
    const clicks = async (day: string): Promise<Row> =>
      Object.fromEntries(
        (
          (await team.read(`/projects/Proj1/keywords?from=${day}&to=${day}`)).body.keywords as {
            query: string;
            metrics: Row;
          }[]
        ).map(({ query, metrics }) => [query, metrics['clicks']]),
      );
    t.strictSame(await clicks('2026-03-01'), { shoes: 10, boots: null }, 'stored before it was tracked');
    t.strictSame(await clicks('2026-03-02'), { shoes: 10, boots: null }, 'stored by an import that did not know it');

    let times = 0;
    await importBeside(t, team, '2026-03-03', { queries, trackTop: 3 }, async () => {
      times++;
      await done(team, 'owner', 'POST', '/projects/Proj1/keywords', { queries: ['hats'] })();
    });
    t.equal(times, 1);
    t.strictSame(await clicks('2026-03-03'), { shoes: 10, boots: 9, hats: 8 }, 'begun again, it has what was tracked');
  },
);
