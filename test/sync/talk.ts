import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type KnownSearch, KnownSearches } from '../../cli/demo/provider/known-searches.ts';
import type { MadeSearches } from '../../cli/demo/provider/made-searches.ts';
import type { LogEntry } from '../../cli/demo/provider/provider.ts';
import type { Search } from '../../cli/demo/provider/searches.ts';
import { listProjectsToEvaluate } from '../../server/catalog/alerts.ts';
import { addChannel } from '../../server/catalog/channels.ts';
import { removeConnection } from '../../server/catalog/connections.ts';
import { claimDeliveries } from '../../server/catalog/deliveries.ts';
import { listSyncDays, putSyncDays } from '../../server/catalog/sync-days.ts';
import { putSyncRequest } from '../../server/catalog/sync-projects.ts';
import { addDays, type Day, eachDay, pacificDayOf } from '../../server/domain/dates.ts';
import { inspectPages } from '../../server/jobs/inspect-pages.ts';
import { readSitemaps } from '../../server/jobs/read-sitemaps.ts';
import { syncProjects } from '../../server/jobs/sync-projects.ts';
import { SEARCH_TYPES, type SearchType } from '../../server/model/surfaces.ts';
import type { StoredTable } from '../../server/model/tables.ts';
import { withFacts } from '../../server/query/with-facts.ts';
import { syncInspections } from '../../server/sync/inspections.ts';
import { wordsOf } from '../command.ts';
import { BING_ERRORS, type FakeBing, fakeBing } from '../fakes/bing.ts';
import { connect } from '../fakes/connected.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { duration, withLetters } from '../recorded.ts';
import { parsed } from '../rows.ts';
import { syncDay } from '../sync-day.ts';
import { narrowed, type Talking, talks, withoutTimes } from '../talks.ts';
import { PROJECT, type Row, type Tables, temporaryFolder } from '../world.ts';
import { holds, modelled, ORIGIN, type SyncWorld, type SyncWorldOptions, syncWorld } from './sync-world.ts';

/*
 * The steps of test/fixtures/{syncs,inspections}.txt.
 * Set-up:
 *   since, silent, from DAY      the first day of the made searches; days without any; the oldest day that is wanted, `all` for
 *                                16 months
 *   search DAYS: COUNTRY QUERY CLICKS/COUNT@POSITION [on 9 pages]; …   searches in place of the made ones; `-` is an anonymous
 *                                query, `{0..9}` makes ten
 *   tracked QUERY, …             keywords; none if it is left out
 *   archive WHAT                 of the connection
 *   project, environment, rows {}   fields of the project, settings, rows by table
 *   pages 30                     so many pages, each second one without clicks; all days are synced
 *   bing                         Bing is connected as well, and each sync says what is stored of it
 * Steps that run something:
 *   $ [SETTING=VALUE] COMMAND    CREDENTIALS, PROVIDER and TOKENS stand for a file and addresses; `= 1` is its exit code
 *   sync [{}]                    a run, with options
 *   inspect [twice]              a run of inspections, twice at the same time; `limit 12` is how many a day may have
 *   job NAME [off]               a run of a background job, `off` with ORDINATE_SYNC=off; `stop at KIND 2` ends the next one at its
 *                                second such request
 *   requested                    somebody asks for a sync
 * Steps that show something:
 *   holds [from DAY]             compares the tables with the searches; how many rows they have
 *   hours, days TYPE             compares what the API says with the provider: DAY DAY [COUNTRY]
 *   asked [KIND [DIMENSIONS]]    the requests of the last run: `web` by default, another type or `hour`; `windows` counts them
 *   asked refused, sitemaps      how many requests were sent and refused; how often sitemaps were read
 *   asked inspection [times, few]   the pages that were inspected; how many; whether they are fewer than ten
 *   deliveries                   what a channel was told of failed syncs; the first one makes it
 *   changed                      the tables whose rows differ from the last time; at first all of them
 *   stored TABLE                 its rows: keys, then clicks, impressions and the sum of positions
 *   status                       of the project, as `sync status` has it
 *   get PATH[: FIELDS], portfolio PARAMETERS[: FIELDS]   fields of an answer about the project or all projects
 *   evaluate                     the projects whose alerts are to be evaluated
 * Steps that change something:
 *   wait 6h, now TIME [after 4 requests]   the clock; at that request of the next run
 *   project {}, rows {}          are loaded
 *   disconnect KIND              removes a connection; `property NAME` is one more that the provider has
 *   search …                     replaces the days that it names
 *   change, seen, clicked DAY    another day at the provider: all of it, one more impression, one more click of each search
 *   site {}                      how the property answers; `state PAGES {}` its pages, `sitemaps {}; {}` its sitemaps
 *   incomplete HOUR              an answer of hours that names this one as the first incomplete one
 *   fails [2 times] WHAT: HOW    until it `works`; see `whichOf` and `FAILURES`
 *   answers WHAT: KEYS [CLICKS/IMPRESSIONS@POSITION]; …   rows in place of others
 *   access, grant, credentials lost or back
 *   quota {}                     of the provider; null for no limit
 *   known STATE TABLES DAYS      what the sync knows of days
 *   bing search DAY QUERY CLICKS/IMPRESSIONS@POSITION [on URL]; …   what Bing has; `bing crawl TIME STATUS; …` of its crawler
 *   bing {}                      fields of the fake
 *   bing forgets [crawl] 2       it no longer has its first two
 *   bing fails METHOD: HOW       `all` for each method, until `bing works`
 *   bing rotates METHOD, bing leaves METHOD   the key is replaced, or the connection removed, while it answers
 *   bing again                   the sync forgets which days it has
 * `{x*300}` stands for that many letters.
 */
const SET_UP = /^(since|silent|from|tracked|archive|project|environment|rows|pages|search|bing$)(?: |$)/;
const HOUR = 3_600_000;
const SYNCED = {
  synced_through: '2026-03-13',
  provisional_after: '2026-03-12',
  last_synced_at: '2026-03-14T00:00:00Z',
};
const JOBS = { 'inspect-pages': inspectPages, 'read-sitemaps': readSitemaps, 'sync-projects': syncProjects };
const BING_TABLES: readonly StoredTable[] = ['site_daily_bing', 'query_weekly_bing', 'page_weekly_bing'];

type Which = (entry: LogEntry) => boolean;

const parse = (text: string): Row => JSON.parse(text) as Row;
const urlOf = (page: string): string => `${ORIGIN}${page}`;

/** `2026-03-01..2026-03-05, 2026-03-09` */
const daysOf = (text: string): Day[] =>
  text.split(', ').flatMap((part) => {
    const [from = '', to = from] = part.split('..');
    return eachDay(from, to);
  });

/** Rows of a line of searches; `{0..9}` makes ten, and `on 9 pages` nine results of each. */
function searchesOf(line: string): KnownSearch[] {
  const [, days = '', rows = ''] = /^(.*?): (.*)$/.exec(line)!;
  return rows.split('; ').flatMap((row) => {
    const [, country = '', query = '', clicks, count, position, pages = 1] =
      /^(\w{3}) (.+) (\d+)\/(\d+)@(\d+)(?: on (\d+) pages)?$/.exec(row)!;
    const results = Array.from({ length: Number(pages) }, (_, at) => {
      return { page: `${ORIGIN}${pages === 1 ? '' : at}`, position: Number(position) + at, clicks: Number(clicks) };
    });
    const [range, first, last] = /\{(\d+)\.\.(\d+)\}/.exec(query) ?? ['', 0, 0];
    const queries = Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) =>
      range === '' ? query : query.replace(range, String(Number(first) + at)),
    );
    return daysOf(days).flatMap((date) =>
      queries.map((text): KnownSearch => {
        return { date, country, query: text === '-' ? null : text, device: 'MOBILE', count: Number(count), results };
      }),
    );
  });
}

/** A page that has no clicks behind each with clicks: `p000` has the most. */
function pageRows(pages: number): Row[] {
  return eachDay('2026-02-10', '2026-03-13').flatMap((date) =>
    Array.from({ length: pages }, (_, page) => {
      const url = urlOf(`p${String(page).padStart(3, '0')}`);
      const clicks = page % 2 === 0 ? pages - page : 0;
      return { project_id: 'Proj1', date, country: 'usa', url, clicks, impressions: 100, sum_position: 50 };
    }),
  );
}

/** Which requests a step is about: a kind and page, a type, dimensions, all of them behind `=`, or those that ask for queries. */
function whichOf(what: string): Which {
  const [kind, page] = what.split(' ');
  if (kind === 'inspection' || kind === 'sitemaps')
    return (entry) => entry.kind === kind && (page === undefined || entry.page === urlOf(page));
  if (what === 'data') return ({ request }) => request !== undefined;
  if (what === 'split') return ({ request }) => request?.filters.some((one) => one.dimension === 'query') ?? false;
  if (what === 'image') return ({ request }) => request?.type === 'image';
  if (what.startsWith('='))
    return ({ request }) =>
      request?.type === 'web' &&
      request.dimensions.join() === what.slice(1) &&
      (what !== '=date' || request.filters.length > 0);
  return ({ request }) => request?.dimensions.some((one) => what.split(',').includes(one)) ?? false;
}

/** A request for data in words; a long expression is told by its length. */
function requestText({ request }: Pick<LogEntry, 'request'>): string {
  const { dimensions, from, to, dataState, filters, type } = request!;
  const conditions = filters.map(({ dimension, operator, expression }) =>
    [dimension, operator, expression.length > 60 ? `(${expression.length})` : expression].join(' '),
  );
  const what = `> ${dimensions.join()} of ${from} to ${to}, ${type === 'web' ? '' : `${type} `}${dataState}`;
  return [what, ...conditions].join('; ');
}

/** How many requests each window took, in their order: the newest days, other types, and months of the history. */
function windowsOf(asked: readonly Pick<LogEntry, 'request'>[], newest: Day): string[] {
  const windows: [name: string, count: number][] = [];
  for (const { request } of asked) {
    const month = request!.to >= newest ? 'the newest days' : request!.from.slice(0, 7);
    const name = request!.type === 'web' ? month : 'types';
    const last = windows.at(-1);
    if (last?.[0] === name) last[1]++;
    else windows.push([name, 1]);
  }
  return [windows.map(([name, count]) => `${name} ${count}`).join(', ') || 'nothing'];
}

/** A field of an answer: `pages.url` is that of each. */
const fieldOf = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (of, name) => (Array.isArray(of) ? of.map((one) => (one as Row)[name]) : (of as Row | null)?.[name]),
    value,
  );

/** A value in a line, or a row in each. */
function valueText(name: string, value: unknown): string[] {
  const isRows = Array.isArray(value) && value.some((one) => typeof one === 'object');
  if (Array.isArray(value) && value.length > 40)
    return [`${name} ${value[0]}, ${value.length - 2} others, ${value.at(-1)}`];
  if (!isRows) return [`${name} ${JSON.stringify(value)}`];
  return [`${name}:`, ...value.map((one) => `  ${JSON.stringify(one)}`)];
}

/** A line of a command without what is of this moment and machine. */
const plain = (line: string): string => {
  const steady = withoutTimes(line)
    // What else was asked when a run failed depends on the order of answers.
    .replace(/^(\w{5})(?: +[\d.]+){5}(?! +done) +/, '$1  -  ')
    .replaceAll(/\b\d+\.\d+(?= |$)/g, 'SECONDS')
    .replaceAll(/\d+ MB left/g, 'some left');
  return narrowed(steady).trimEnd();
};

class Talk implements Talking {
  private readonly t: Test;
  private readonly world: SyncWorld;
  private readonly bing: FakeBing | undefined;
  private given: Row = {};
  private perDay = 2000;
  /** The id of a project that a command made. */
  private made = 'MADE';
  private stopAt: string | undefined;
  private credentials = Buffer.alloc(0);
  private isSubscribed = false;
  private storedOfBing = '';
  private readonly rows = new Map<string, string>();

  private constructor(t: Test, world: SyncWorld, bing: FakeBing | undefined) {
    this.t = t;
    this.world = world;
    this.bing = bing;
  }

  static async begin(t: Test, setUp: readonly string[]): Promise<Talk> {
    let options: SyncWorldOptions = { tracked: [] };
    let bing: FakeBing | undefined;
    let tables: Tables = {};
    const searches: KnownSearch[] = [];
    for (const step of setUp) {
      const [, word, rest = ''] = /^(\S+) ?(.*)$/.exec(step)!;
      if (word === 'search') searches.push(...searchesOf(rest));
      else if (word === 'tracked') options = { ...options, tracked: withLetters(rest).split(', ') };
      else if (word === 'silent') options = { ...options, silent: rest.split(', ') };
      else if (word === 'rows') tables = { ...tables, ...(parse(rest) as unknown as Tables) };
      else if (word === 'pages') {
        options = { ...options, project: SYNCED };
        tables = { ...tables, page_daily: pageRows(Number(rest)) };
      } else if (word === 'bing') bing = await fakeBing(t, '2026-03-15');
      else options = { ...options, [word!]: rest === 'all' ? null : parsed(rest) };
    }
    const world = await syncWorld(t, {
      ...options,
      tables,
      ...(searches.length > 0 ? { source: new KnownSearches(searches) } : {}),
    });
    if (bing !== undefined) {
      bing.sites.push({ url: ORIGIN, isVerified: true });
      await connect(world.catalog, { kind: 'bing', credentials: bing.keyFile, endpoint: bing.url });
    }
    return new Talk(t, world, bing);
  }

  /** What a step says. */
  async step(step: string): Promise<readonly string[]> {
    const [, word = '', rest = ''] = /^(\S+) ?(.*)$/.exec(step)!;
    const { world } = this;
    switch (word) {
      case '$':
        return this.run(rest);
      case 'sync':
        return this.sync(rest);
      case 'inspect':
        return this.inspect(rest === 'twice' ? 2 : 1);
      case 'job':
        return this.job(rest);
      case 'asked':
        return this.asked(rest);
      case 'holds': {
        const from = rest.replace('from ', '');
        return holds(this.t, world, from === '' ? {} : { from });
      }
      case 'hours':
      case 'days':
        return this.compare(word, rest.split(' '));
      case 'stored':
        return this.stored(rest as StoredTable);
      case 'get':
        return this.get(`/projects/Proj1${rest}`);
      case 'portfolio':
        return this.get(`/portfolio?${rest}`);
      case 'status':
        return this.status();
      case 'deliveries':
        return this.deliveries();
      case 'changed':
        return this.changed();
      case 'evaluate':
        return [`to evaluate: ${(await listProjectsToEvaluate(world.catalog)).join() || 'none'}`];
      case 'bing':
        await this.ofBing(rest);
        return [];
      default:
        await this.happen(word, rest);
        return [];
    }
  }

  private async happen(word: string, rest: string): Promise<void> {
    const { world } = this;
    const { provider, site } = world;
    switch (word) {
      case 'wait':
        world.clock += duration(rest);
        break;
      case 'now': {
        const [, time = '', after] = /^(\S+)(?: after (\d+) requests)?$/.exec(rest)!;
        let left = Number(after);
        if (after === undefined) world.clock = Date.parse(time);
        else
          provider.onRequest = () => {
            if (--left === 0) world.clock = Date.parse(time);
          };
        break;
      }
      case 'project':
        this.given = { ...this.given, ...parse(withLetters(rest)) };
        await world.load({ projects: [{ ...(await world.row()), ...this.given }] });
        break;
      case 'rows':
        await world.load(parse(rest) as never);
        break;
      case 'disconnect':
        await removeConnection(world.catalog, 'Proj1', rest);
        break;
      case 'property':
        provider.model.addSite(rest, world.searches);
        provider.give(rest);
        break;
      case 'site':
        for (const [name, value] of Object.entries(parse(rest))) {
          const before = (site.options as unknown as Row)[name];
          const isObject = typeof before === 'object' && before !== null;
          Object.assign(site.options, { [name]: isObject ? { ...before, ...(value as object) } : value });
        }
        break;
      case 'state': {
        const [, pages = '', state = ''] = /^(\S+) (.*)$/.exec(rest)!;
        const { indexStateOf } = site;
        const own = pages.split(',').map(urlOf);
        site.indexStateOf = (url) => {
          const { only, ...more } = parse(state) as Record<string, string>;
          if (pages !== 'all' && !own.includes(url)) return indexStateOf(url);
          return { ...(only === undefined ? indexStateOf(url) : {}), ...more };
        };
        break;
      }
      case 'sitemaps':
        site.sitemaps = (rest === '' ? [] : rest.split('; ').map(parse)) as unknown as typeof site.sitemaps;
        break;
      case 'search': {
        const days = Map.groupBy(searchesOf(rest), ({ date }) => date);
        for (const [day, searches] of days) (site.source as KnownSearches).replace(day, searches);
        break;
      }
      case 'change':
        (site.source as MadeSearches).change(rest);
        break;
      case 'seen':
        this.edit(rest, (search) => ({ ...search, count: search.count + 1 }));
        break;
      case 'clicked':
        this.edit(rest, ({ results: [first, ...others], ...search }) => ({
          ...search,
          results: [{ ...first!, clicks: Math.min(search.count, first!.clicks + 1) }, ...others],
        }));
        break;
      case 'known': {
        const [, state, tables = '', days = ''] = /^(\w+) (\S+) (.*)$/.exec(rest)!;
        for (const table of tables.split(','))
          await putSyncDays(
            world.catalog,
            'Proj1',
            daysOf(days).map((day) => syncDay(table as 'site_daily', day, { state: state as 'empty', compared: 30 })),
          );
        break;
      }
      case 'fails': {
        const [, times = 'Infinity', what = '', how = ''] = /^(?:(\d+) times )?(.*): (\w+)$/.exec(rest)!;
        provider.fail(FAILURES[how as 'reset'] as 'reset', { times: Number(times), which: whichOf(what) });
        break;
      }
      case 'answers': {
        const [, what = '', all = ''] = /^(.*?): (.*)$/.exec(rest)!;
        const rows = all.split('; ').map((row) => {
          const [, keys = '', clicks = 1, impressions = 4, position = 2.5] =
            /^(\[.*\])(?: (-?\d+)\/(\d+)@([\d.]+))?$/.exec(row)!;
          const numbers = { clicks: Number(clicks), impressions: Number(impressions), position: Number(position) };
          return { keys: JSON.parse(withLetters(keys)) as string[], ctr: 0, ...numbers };
        });
        provider.fail({ status: 200, body: { rows } }, { which: whichOf(what) });
        break;
      }
      case 'incomplete':
        provider.heal();
        provider.fail(
          {
            status: 200,
            body: {
              rows: [{ keys: ['2026-03-14T12:00:00-07:00'], clicks: 1, impressions: 2, ctr: 0.5, position: 1 }],
              metadata: { firstIncompleteHour: rest },
            },
          },
          { which: whichOf('hour') },
        );
        break;
      case 'works':
        provider.heal();
        break;
      case 'access':
        if (rest === 'lost') provider.take(String(PROJECT['property']));
        else provider.give(String(PROJECT['property']));
        break;
      case 'grant':
        provider.account.isRevoked = rest === 'lost';
        break;
      case 'credentials':
        if (rest === 'lost') {
          this.credentials = readFileSync(provider.credentials);
          rmSync(provider.credentials);
        } else writeFileSync(provider.credentials, this.credentials, { mode: 0o600 });
        break;
      case 'quota':
        for (const [name, value] of Object.entries(parse(rest)))
          Object.assign(provider.model.quotas.options, { [name]: value ?? Number.POSITIVE_INFINITY });
        break;
      case 'requested':
        await world.catalog.transaction((tx) => putSyncRequest(tx, 'Proj1', world.clock * 1000));
        break;
      case 'limit':
        this.perDay = Number(rest);
        break;
      case 'stop':
        this.stopAt = rest.replace('at ', '');
        break;
      default:
        throw new Error(`There is no step '${word}'.`);
    }
  }

  /** Changes the searches of a day, whatever they are. */
  private edit(day: Day, change: (search: Search) => Search): void {
    const source = this.world.site.source as MadeSearches;
    const searches = source.searches.bind(source);
    const revision = source.revision.bind(source);
    Object.assign(source, {
      searches: (...[date, ...more]: Parameters<typeof searches>) =>
        [...searches(date, ...more)].map((search) => (date === day ? change(search) : search)),
      revision: (date: Day) => revision(date) + (date === day ? 1 : 0),
    });
  }

  private async run(line: string): Promise<string[]> {
    const { provider, run } = this.world;
    provider.forget();
    const [, settings = '', rest = ''] = /^((?:\w+=\S+ )*)(.*)$/.exec(line)!;
    const more = Object.fromEntries(settings.split(' ').map((one) => one.split('=') as [string, string]));
    const { credentials, url, tokenUrl } = provider;
    const words = wordsOf(withLetters(rest)).map(
      (word) => ({ CREDENTIALS: credentials, PROVIDER: url, TOKENS: tokenUrl })[word] ?? word,
    );
    const { code, stdout, stderr } = await run(words, settings === '' ? {} : more);
    provider.onRequest = () => {};
    const [, made = 'MADE'] = /^Project (\w+) was created/m.exec(stdout) ?? [];
    this.made = made === 'MADE' ? this.made : made;
    const said = `${stdout}${stderr}`.replaceAll(this.made, 'MADE');
    this.t.notMatch(said, /ya29|refresh-token-of|client-secret-of|^ {4}at /m);
    const lines = said.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('{"level"'));
    return [...lines.map(plain), ...(code === 0 ? [] : [`= ${code}`])];
  }

  private async sync(options: string): Promise<string[]> {
    const { world, bing } = this;
    const before = (await world.project()).factsRevision;
    const [methods, logged] = [bing?.requests.length, world.lines.length];
    world.provider.forget();
    const { outcome, reason } = await world.sync(options === '' ? {} : parse(options));
    world.provider.onRequest = () => {};
    const { syncStatus, syncedThrough, provisionalAfter, historyBackfilling, factsRevision } = await world.project();
    const parts = [
      `${syncStatus} through ${syncedThrough}, final through ${provisionalAfter}`,
      historyBackfilling ? ', history to come' : '',
      factsRevision > before ? ', published' : ', nothing to publish',
    ];
    const said = `${outcome}${reason === null ? '' : `: ${reason}`}; ${parts.join('')}`;
    if (bing === undefined) return [said];
    this.t.notMatch(JSON.stringify(world.lines), bing.key);
    const fetches = world.lines.slice(logged).filter((line) => line['source'] === 'bing' && 'outcome' in line);
    const told = fetches.map(({ requests, rows, days, outcome: how }) =>
      [`log: ${String(requests)} requests`, `${String(rows ?? days)} rows or days`, how].join(', '),
    );
    return [said, ...(await this.toldOfBing(bing.requests.slice(methods), told.sort()))];
  }

  private async toldOfBing(requests: FakeBing['requests'], fetches: readonly string[]): Promise<string[]> {
    const { world } = this;
    const stored: string[] = [];
    for (const table of BING_TABLES)
      for (const { project_id: _, clicks, impressions, sum_position, ...key } of await world.stored(table)) {
        const texts = Object.values(key).map((value) => (String(value).length > 80 ? 'long' : String(value)));
        stored.push(`${table} ${JSON.stringify(texts.join(' '))}: ${[clicks, impressions, sum_position].join(' ')}`);
      }
    const all = stored.sort().join('\n');
    const isNew = all !== this.storedOfBing;
    this.storedOfBing = all;
    const cut = (await listSyncDays(world.catalog, 'Proj1')).filter(({ cutOff }) => cutOff);
    const { reason, days } = (await world.ask('/crawl')).body as { reason: string | null; days: Row[] };
    return [
      ...(requests.length > 0 ? [`asked: ${requests.map(({ method }) => method).join(' ')}`] : []),
      ...fetches,
      ...cut.map(({ table, day }) => `cut off: ${table} ${day}`).sort(),
      ...(isNew ? stored : ['nothing new is stored']),
      ...(reason === null ? [] : [`crawl: ${reason}`]),
      ...days.map(({ date, ...counts }) => {
        const told = Object.entries(counts).filter(([, count]) => count !== 0);
        return `crawl ${String(date)}: ${told.map((count) => count.join(' ')).join(', ')}`;
      }),
    ];
  }

  private async ofBing(what: string): Promise<void> {
    const { world } = this;
    const bing = this.bing!;
    const [, word, rest = ''] = /^(\S+) ?(.*)$/.exec(what)!;
    if (word === 'search')
      for (const row of withLetters(rest).split('; ')) {
        const [, day = '', query = '', clicks, impressions, position, url = `${ORIGIN}shoes`] =
          /^(\S+) (.+) (\d+)\/(\d+)@(\d+)(?: on (.*))?$/.exec(row)!;
        const texts = { query: parsed(query) as string, url: parsed(url) as string };
        const numbers = { clicks: Number(clicks), impressions: Number(impressions), position: Number(position) };
        bing.searches.push({ day, ...texts, ...numbers });
      }
    else if (word === 'forgets')
      (rest.startsWith('crawl') ? bing.crawls : bing.searches).splice(0, Number(rest.split(' ')[1]));
    else if (word === 'crawl')
      for (const row of rest.split('; ')) {
        const [at = '', status] = row.split(' ');
        const crawl = { url: ORIGIN, at: `${at}:00-08:00`, status: Number(status), size: 9 };
        bing.crawls.push(crawl);
        bing.crawls.sort((a, b) => a.at.localeCompare(b.at));
      }
    else if (word === 'fails') {
      const [method, how] = rest.split(': ') as [string, keyof typeof BING_ERRORS];
      bing.intercept = (asked) =>
        method === 'all' || method === asked ? { status: 400, body: BING_ERRORS[how] } : undefined;
    } else if (word === 'works') bing.intercept = () => undefined;
    else if (word === 'rotates')
      bing.intercept = async (method) => {
        if (method !== rest || bing.key === 'the-new-key-0123456789') return undefined;
        const file = join(temporaryFolder(this.t), 'new-key');
        bing.key = 'the-new-key-0123456789';
        writeFileSync(file, bing.key, { mode: 0o600 });
        await connect(world.catalog, { kind: 'bing', credentials: file, endpoint: bing.url });
        return { status: 400, body: BING_ERRORS.invalidKey };
      };
    else if (word === 'leaves')
      bing.intercept = async (method) => {
        if (method === rest) await removeConnection(world.catalog, 'Proj1', 'bing');
        return { status: 400, body: BING_ERRORS.invalidKey };
      };
    else if (word === 'again')
      await world.catalog.transaction((tx) => tx.statements.run('sync-days.forget', { project: 'Proj1' }));
    else Object.assign(bing, parse(what));
  }

  private async inspect(times: number): Promise<string[]> {
    const { world, perDay } = this;
    const { signal } = new AbortController();
    const limits = { perDay, perSecond: 1000 };
    const one = () =>
      withFacts(world, (facts) =>
        world.withStores((stores) => syncInspections(stores, { facts, now: () => world.clock, signal, limits })),
      );
    world.provider.forget();
    const all = await Promise.all(Array.from({ length: times }, one));
    const sum = (name: 'inspected' | 'failed' | 'forgotten') => all.reduce((total, counts) => total + counts[name], 0);
    return [`${sum('inspected')} inspected, ${sum('failed')} failed, ${sum('forgotten')} forgotten`];
  }

  private async job(line: string): Promise<string[]> {
    const { world, stopAt } = this;
    const [name, off] = line.split(' ') as [keyof typeof JOBS, string?];
    const stop = new AbortController();
    const logged = world.lines.length;
    world.provider.forget();
    const [kindToStop, count = '1'] = stopAt?.split(' ') ?? [];
    let left = Number(count);
    world.provider.onRequest = ({ kind }) => {
      if (kind === kindToStop && --left === 0) stop.abort(new Error('the process ends'));
    };
    this.stopAt = undefined;
    const ended = await world.job(JOBS[name], stop.signal, off === undefined ? {} : { sync: false }).then(
      (result) => JSON.stringify(result),
      (error: Error) => `stopped: ${error.message}`,
    );
    world.provider.onRequest = () => {};
    const lines = world.lines.slice(logged).filter((line) => 'outcome' in line);
    return [
      ended,
      ...lines.map(
        ({ property, project, outcome, sitemaps, reason }) =>
          `log: ${[property ?? project, outcome, sitemaps ?? reason ?? 'in order'].join(', ')}`,
      ),
    ];
  }

  private asked(what: string): string[] {
    const { log } = this.world.provider.model;
    if (what === 'refused') {
      const counts = [log.length, log.filter(({ status }) => status >= 400).length];
      const [sent, refused] = counts.map((count) => ['no request', 'one request'][count] ?? 'requests');
      return [`${sent}, ${refused} refused`];
    }
    if (what.startsWith('inspection')) {
      const pages = log.flatMap(({ kind, page = '' }) => (kind === 'inspection' ? [page.replace(ORIGIN, '')] : []));
      if (what.endsWith(' few')) return [pages.length < 10 ? 'fewer than 10' : `${pages.length}`];
      return [`${pages.length}${what.endsWith(' times') ? '' : `: ${pages.sort().join(' ')}`}`];
    }
    if (what === 'sitemaps') return [`${log.filter(({ kind }) => kind === what).length} times`];
    const all = this.world.provider.asked('all');
    const [kind = 'web', dimensions] = (what || 'web').split(' ');
    if (kind === 'windows') return windowsOf(all, addDays(pacificDayOf(this.world.clock), -27));
    if (kind !== 'hour' && !SEARCH_TYPES.some((type) => type === kind))
      throw new Error(`'${kind}' is not a kind of request`);
    const found = all.filter(({ request }) =>
      kind === 'hour' ? request.dimensions[0] === 'hour' : request.type === (kind as SearchType),
    );
    const some = found.filter(({ request }) => dimensions === undefined || request.dimensions.join() === dimensions);
    return some.length === 0 ? ['nothing'] : some.map(requestText).sort();
  }

  /** What the API says of hours or days, beside what the provider has. */
  private async compare(what: 'hours' | 'days', words: readonly string[]): Promise<string[]> {
    const { world, t } = this;
    const [type = 'web', from = '2026-03-01', to = pacificDayOf(world.clock), country] =
      what === 'days' ? words : ['web', ...words];
    const of = { type: type as SearchType, country: country ?? null, by: what === 'days' ? 'date' : 'hour' } as const;
    const query = what === 'days' ? `/site?type=${type}&` : '/hours?';
    const shown = what === 'days' && country !== undefined ? `&country=${country}` : '';
    const { body } = await world.ask(`${query}from=${from}&to=${to}${shown}`);
    const rows = (what === 'days' ? body.daily : body.hours) as Row[];
    const found = rows
      .filter(({ impressions }) => Number(impressions) > 0)
      .map((row) => ({ [of.by]: row[of.by], clicks: row['clicks'], impressions: row['impressions'] }));
    t.strictSame(found, modelled(world, { from, to }, of), `${what} ${words.join(' ')}`);
    const sum = (name: string): number => found.reduce((total, row) => total + Number(row[name]), 0);
    if (found.length === 0) return ['none'];
    const range = `${String(found[0]![of.by])} to ${String(found.at(-1)![of.by])}`;
    return [`${found.length} ${what}, ${range}: ${sum('clicks')} clicks, ${sum('impressions')} impressions`];
  }

  /** What channels are told of failed syncs. */
  private async deliveries(): Promise<string[]> {
    const { catalog, settings, clock } = this.world;
    const rows = await claimDeliveries(catalog, clock * 1000, (body) => body);
    if (!this.isSubscribed) {
      const about = { workspace: 'acme', project: null, types: null, minSeverity: null, name: 'Team' };
      const channel = { ...about, kind: 'webhook', shown: 'hooks.example', address: null } as const;
      await catalog.transaction((tx) => addChannel(tx, settings, { ...channel, events: ['sync.failed'] }, 1));
    }
    this.isSubscribed = true;
    return rows.map(({ body }) => JSON.stringify((JSON.parse(body) as { data: Row }).data['sync']));
  }

  /** The tables whose rows are others than the last time. */
  private async changed(): Promise<string[]> {
    const tables = ['site_daily', 'country_daily', 'brand_daily', 'appearance_daily', 'site_hourly'] as const;
    const changed: string[] = [];
    for (const table of [...tables, 'site_daily_image', 'country_daily_image'] as const) {
      const rows = JSON.stringify(await this.world.stored(table));
      if (this.rows.get(table) !== rows) changed.push(table);
      this.rows.set(table, rows);
    }
    return [changed.join(' ') || 'nothing'];
  }

  private async stored(table: StoredTable): Promise<string[]> {
    const shown = (value: unknown): string =>
      String(value).length > 50 ? `(${String(value).length})` : JSON.stringify(value).replaceAll(/^"|"$/g, '');
    const rows = await this.world.stored(table);
    const lines = rows.map(({ project_id: _project, clicks, impressions, sum_position, ...keys }) => {
      const texts = Object.entries(keys).flatMap(([name, value]) => (name === 'keyword_id' ? [] : [shown(value)]));
      return `${texts.join(' ')}: ${[clicks, impressions, sum_position].join(' ')}`;
    });
    if (lines.length <= 60) return lines.sort();
    const clicked = rows.filter(({ clicks }) => Number(clicks) > 0).length;
    const different = new Set(lines.map((line) => line.split(':')[0])).size;
    return [`${rows.length} rows, ${different} different, ${clicked} with clicks`];
  }

  private async get(line: string): Promise<string[]> {
    const [, path = '', fields] = /^(\S+)(?: (.*))?$/.exec(line.replace(/: /, ' '))!;
    const { status, body } = await this.world.get(path.replaceAll(/[{}"[\]]/g, encodeURIComponent));
    if (status !== 200) {
      const { code, message } = (body as { error: Record<string, string> }).error;
      return [`${status} ${code}: ${message}`];
    }
    if (fields === undefined) return [JSON.stringify(body)];
    return fields.split(', ').flatMap((field) => valueText(field, fieldOf(body, field.split('.'))));
  }

  private async status(): Promise<string[]> {
    const { world } = this;
    const { status, lastError, nextRun, backfill, tables } = await world.status();
    const hours = nextRun === null ? Number.NaN : (Date.parse(nextRun) - world.clock) / HOUR;
    // A tenth sooner or later.
    const pause = [0.25, 6].find((of) => Math.abs(hours / of - 1) < 0.11);
    const cut = Object.entries(tables as Record<string, { cutOffDays: number }>).filter(
      ([, one]) => one.cutOffDays > 0,
    );
    return [
      `${status}, ${backfill.done} of ${backfill.total} days from ${backfill.from}${pause === undefined ? '' : `, again in ${pause} h`}`,
      ...cut.map(([table, { cutOffDays }]) => `${table}: ${cutOffDays} days are cut off`),
      ...(lastError === null ? [] : [plain(lastError as string)]),
    ];
  }
}

/** Runs a text of syncs. */
export const syncTalks = (file: string): void => talks(file, SET_UP, (t, steps) => Talk.begin(t, steps));
