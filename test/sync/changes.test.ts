// The sync picks up whatever changes at the provider or in the project, and fetches nothing else again.
import t from 'tap';
import type { MadeSearches } from '../../cli/demo/provider/made-searches.ts';
import type { Search } from '../../cli/demo/provider/searches.ts';
import type { BrandTerm } from '../../server/domain/brand-terms.ts';
import type { Day } from '../../server/domain/dates.ts';
import { sameAsRecorded } from '../recorded.ts';
import {
  BRAND_TERMS,
  HOUR,
  holdsAll,
  NOW,
  newWorld,
  type OperatorWorld,
  openApi,
  setClock,
  syncedWorld,
  wanted,
} from './operator-world.ts';

/** With one letter less, 41 of them would fill an expression of 4,096 characters. */
const MANY = [...Array.from({ length: 40 }, (_, index) => `${index}`.padEnd(100, 'x')), 'y'.repeat(57), 'boots'];

/** The requests of a sync as texts, in any order; a long expression is told by its length. */
function textsOf(asked: Awaited<ReturnType<OperatorWorld['sync']>>): string[] {
  return asked
    .map(({ request: { dimensions, from, to, dataState, filters } }) => {
      const conditions = filters.map(({ dimension, operator, expression }) =>
        [dimension, operator, expression.length > 60 ? `(${expression.length})` : expression].join(' '),
      );
      return [`${dimensions.join()} of ${from} to ${to}, ${dataState}`, ...conditions].join('; ');
    })
    .sort();
}

/** Changes the searches of a day, whatever they are. */
function edit(searches: MadeSearches, day: Day, change: (search: Search) => Search): void {
  const made = searches.searches.bind(searches);
  const revision = searches.revision.bind(searches);
  Object.assign(searches, {
    searches: (...[date, ...rest]: Parameters<typeof made>) =>
      [...made(date, ...rest)].map((search) => (date === day ? change(search) : search)),
    revision: (date: Day) => revision(date) + (date === day ? 1 : 0),
  });
}

/** One more impression, one more click. */
const seenMore = (search: Search): Search => ({ ...search, count: search.count + 1 });
const clickedMore = ({ results: [first, ...others], ...search }: Search): Search => ({
  ...search,
  results: [{ ...first!, clicks: Math.min(search.count, first!.clicks + 1) }, ...others],
});

t.test('after each change, all facts are those of the provider, by no more requests than it takes', async (t) => {
  const world = await newWorld(t, { from: '2026-02-10' });
  const searches = world.site.source as MadeSearches;
  const of = ['--project', world.project];
  const set = (...words: readonly string[]) => world.done('projects', 'set', ...of, ...words);
  let now = NOW;
  const later = (hours: number): void => {
    now += hours * HOUR;
    setClock(now);
  };
  const project: { brandTerms: readonly BrandTerm[]; country: string | null } = {
    brandTerms: BRAND_TERMS,
    country: null,
  };
  const words = { text: 'boots', match: 'word' } as const;
  const add = (...queries: readonly string[]) =>
    world.done('keywords', 'add', ...of, ...queries.flatMap((query) => ['--query', query]));
  const changes: Readonly<Record<string, () => unknown>> = {
    'a new project': () => {},
    'nothing has changed': () => {},
    'six hours later': () => later(6),
    'keywords are tracked, one of them for the second time, and one without rows': () =>
      add('ABC shoes', 'Light boots', 'nobody says so'),
    'other brand terms': () => {
      project.brandTerms = ['trail', words];
      return set('--brand-term', 'trail', '--brand-word', 'BOÖTS');
    },
    'more brand terms than an expression holds': () => {
      project.brandTerms = MANY;
      return set(...MANY.flatMap((term) => ['--brand-term', term]));
    },
    'no brand terms': () => {
      project.brandTerms = [];
      return set('--no-brand-terms');
    },
    'another country': () => {
      project.country = 'usa';
      return set('--country', 'usa');
    },
    'all countries': () => {
      project.country = null;
      return set('--country', 'none');
    },
    'two days later': () => later(48),
    'seven days after a final day, of which only the impressions have changed': () => {
      edit(searches, '2026-03-12', seenMore);
      later(50);
    },
    'a day later, another of which only the clicks have changed': () => {
      edit(searches, '2026-03-13', clickedMore);
      later(24);
    },
    'an hour later': () => later(1),
    'four weeks later, and two days have changed': () => {
      searches.change('2026-02-19');
      searches.change('2026-03-14');
      later(28 * 24);
    },
    'a keyword is archived': () => world.done('keywords', 'archive', ...of, '--query', 'LIGHT boots'),
  };
  /** Those that were tracked at any time: what is stored of them stays. */
  const keywords = new Map<string, { id: string; query: string }>();
  const told: string[] = [];
  for (const [name, change] of Object.entries(changes)) {
    await change();
    const stateOf = (columns: string) => Object.values(world.catalog(`select ${columns} from projects`)[0]!).join();
    const before = stateOf('facts_revision');
    const asked = textsOf(await world.sync());
    const state = stateOf('sync_status, synced_through, provisional_after, history_backfilling');
    const isPublished = stateOf('facts_revision') !== before;
    told.push([`== ${name}`, `${state}, ${isPublished ? 'published' : 'nothing to publish'}`, ...asked, ''].join('\n'));
    for (const keyword of world.keywords()) keywords.set(keyword.id, keyword);
    await holdsAll(t, world, wanted(world, { ...project, keywords: [...keywords.values()] }), name);
  }
  sameAsRecorded(t, 'sync-requests.txt', told.join('\n'), /\n(?=== )/);
});

t.test('that the days of a keyword without rows were fetched is news for answers', async (t) => {
  const world = await syncedWorld(t, { tracked: ['light boots'] });
  await world.done('keywords', 'add', '--project', world.project, '--query', 'nobody searches for this');
  const read = async () => {
    const ask = await openApi(t, world, NOW);
    const { body } = await ask(`/projects/${world.project}/keywords?period=7d&compare=previous`);
    const { keywords } = body as { keywords: { query: string; unsafe: { clicks?: string[] } }[] };
    return Object.fromEntries(keywords.map(({ query, unsafe }) => [query, unsafe.clicks?.includes('missing_days')]));
  };
  t.strictSame(await read(), { 'light boots': false, 'nobody searches for this': true });
  const before = world.catalog('select facts_revision as facts, entities_revision as entities from projects')[0]!;
  await world.sync();
  const after = world.catalog('select facts_revision as facts, entities_revision as entities from projects')[0]!;
  t.strictSame(await read(), { 'light boots': false, 'nobody searches for this': false });
  t.strictSame([after['facts'] === before['facts'], after['entities'] === before['entities']], [true, false]);
});

t.test('verify names the days that moved, and repairs them', async (t) => {
  const world = await syncedWorld(t);
  const verify = (...words: string[]) => world.ordinate('verify', '--project', world.project, '--days', ...words);
  const searches = world.site.source as MadeSearches;
  for (const day of ['2026-02-18', '2026-03-01']) searches.change(day);
  const daysIn = ({ stdout, stderr }: { stdout: string; stderr: string }) =>
    (stdout + stderr).match(/\d{4}-\d\d-\d\d/g);
  const of25 = await verify('25');
  t.strictSame([of25.code, daysIn(of25)], [1, ['2026-03-01']]);
  const of26 = await verify('26');
  t.strictSame([of26.code, daysIn(of26)], [1, ['2026-02-18', '2026-03-01']]);
  t.match(await verify('26', '--repair'), { code: 0 });
  await holdsAll(t, world, wanted(world), 'repaired');
  t.match(await verify('26'), { code: 0, stdout: /All is in order/ });
});
