import { createHash } from 'node:crypto';
import { addDays } from '../../../server/domain/dates.ts';
import type { Engine } from '../../../server/facts/duckdb/engine.ts';
import { json, type Metrics, type PlainRow } from './body.ts';
import { checkState, first, wrongMetrics, wrongRows } from './checks.ts';
import { DEVICES, keywordIds, keywordText, PROJECTS, type Sums } from './facts.ts';
import { expectStatus, type Got, type SoakClient, Unexpected } from './http.ts';
import type { Random } from './random.ts';
import { FORMATS, rowsOf } from './rows.ts';
import { daysOf, NOTHING, period, type State, type Truth, total } from './truth.ts';

/** What requests need. */
export interface Traffic {
  readonly client: SoakClient;
  readonly truth: Truth;
  readonly random: Random;
  /** Reads Parquet. */
  readonly engine: Engine;
  /** For files of a moment. */
  readonly folder: string;
  /** A project that is synced from the model of the provider, if there is one. */
  readonly synced: string | undefined;
}

/** Sends requests of one kind and checks the answers. Throws `Unexpected`, or `Refused` for a documented 503. */
export type Kind = (traffic: Traffic) => Promise<void>;

const DAYS = [1, 7, 14, 28, 40];
const pairs = (rows: readonly PlainRow[], key: string): (readonly [string, Metrics])[] =>
  rows.map((row) => [String(row[key]), row as unknown as Metrics] as const);

const site: Kind = async ({ client, truth, random, engine, folder }) => {
  const project = random.pick(PROJECTS);
  const days = random.pick(DAYS);
  const device = random.pick(['all', ...DEVICES]);
  const sums = (state: State) =>
    truth.sums(state, { project, table: 'site_daily', by: 'date' }, period(state, days), (fact) =>
      device === 'all' ? true : fact['device'] === device,
    );
  const query = `period=${days}d${device === 'all' ? '' : `&device=${device}`}`;
  const format = random.pick(['json', 'json', ...FORMATS] as const);
  if (format === 'json') {
    const got = await client.api(`/projects/${project}/site?${query}`);
    const { range, totals, daily } = json(got);
    checkState(truth, [got], (state) =>
      first([
        () => wrongText('range.to', range.to, state.lastDay),
        () => wrongRows('daily', pairs(daily, 'date'), sums(state)),
        () => wrongMetrics('totals', totals, total(sums(state))),
      ]),
    );
    return;
  }
  const got = await client.api(`/projects/${project}/site.${format}?${query}`);
  const rows = await rowsOf(engine, folder, format, got);
  checkState(truth, [got], (state) => wrongRows('rows', pairs(rows, 'date'), sums(state)));
};

const compare: Kind = async ({ client, truth, random }) => {
  const project = random.pick(PROJECTS);
  const days = random.pick([1, 7, 14]);
  const got = await client.api(`/projects/${project}/site?period=${days}d&compare=previous`);
  const { totals } = json(got);
  checkState(truth, [got], (state) => {
    const of = { project, table: 'site_daily', by: 'date' };
    const range = period(state, days);
    const before = { from: addDays(range.from, -days), to: addDays(range.from, -1) };
    return first([
      () => wrongMetrics('totals', totals, total(truth.sums(state, of, range))),
      () => wrongMetrics('totals before', totals.comparison, total(truth.sums(state, of, before))),
    ]);
  });
};

const keywords: Kind = async ({ client, truth, random, engine, folder }) => {
  const project = random.pick(PROJECTS);
  const days = random.pick(DAYS);
  const device = random.pick(['all', 'desktop', 'tablet']);
  const least = random.pick([0, 0, 1, 50, 400]);
  const isSorted = random.next() < 0.5;
  const query = `period=${days}d&device=${device}${least > 0 ? `&filter=clicks:gte:${least}` : ''}${isSorted ? '&sort=-impressions' : ''}`;
  const expected = (state: State): Map<string, Sums> => {
    const sums = truth.sums(
      state,
      { project, table: 'keyword_daily', by: 'keyword_id' },
      period(state, days),
      (fact) => device === 'all' || fact['device'] === device,
    );
    const all = keywordIds(truth.sizes).map((id) => [id, sums.get(id) ?? NOTHING] as const);
    const left = all.filter(([, { clicks }]) => clicks >= least);
    return new Map(isSorted ? left.toSorted(([, a], [, b]) => b.impressions - a.impressions) : left);
  };
  const format = random.pick(['json', 'json', ...FORMATS] as const);
  if (format !== 'json') {
    const got = await client.api(`/projects/${project}/keywords.${format}?${query}`);
    const rows = await rowsOf(engine, folder, format, got);
    checkState(truth, [got], (state) => wrongList(pairs(rows, 'id'), expected(state)));
    return;
  }
  const limit = random.pick([5, 10, 1000]);
  const offset = random.pick([0, 0, 10]);
  const got = await client.api(`/projects/${project}/keywords?${query}&limit=${limit}&offset=${offset}`);
  const { paging, keywords: rows } = json(got);
  checkState(truth, [got], (state) => {
    const all = expected(state);
    const page = new Map([...all].slice(offset, offset + limit));
    const named = (rows as { id: string; query: string; metrics: Metrics }[]).map(
      (row) => [row.id, row.metrics] as const,
    );
    return first([
      () => wrongText('paging.total', paging.total, all.size),
      () => wrongList(named, page),
      () => rows.map(({ id, query: text }) => wrongText('query', text, keywordText(id))).find(Boolean),
    ]);
  });
};

/** The days of all keywords. */
const days: Kind = async ({ client, truth, random, engine, folder }) => {
  const project = random.pick(PROJECTS);
  const format = random.pick(FORMATS);
  const got = await client.api(`/projects/${project}/keywords.${format}?daily=1&period=7d`);
  const rows = await rowsOf(engine, folder, format, got);
  const named = rows.map((row) => [`${String(row['id'])} ${String(row['date'])}`, row as unknown as Metrics] as const);
  checkState(truth, [got], (state) => {
    const expected = new Map<string, Sums>();
    for (const day of daysOf(period(state, 7))) {
      const range = { from: day, to: day };
      const sums = truth.sums(state, { project, table: 'keyword_daily', by: 'keyword_id' }, range);
      for (const [id, own] of sums) expected.set(`${id} ${day}`, own);
    }
    return wrongRows('days', named, expected);
  });
};

/** All pages of a list, which must be those of one list. */
const lists: Kind = async ({ client, truth, random }) => {
  const project = random.pick(PROJECTS);
  const [kind, key] = random.pick([['queries', 'query'] as const, ['pages', 'url'] as const]);
  const days = random.pick([7, 14, 28]);
  const limit = random.pick([20, 1000]);
  const least = random.pick([0, 0, 30]);
  const query = `period=${days}d&limit=${limit}${least > 0 ? `&filter=clicks:gte:${least}` : ''}`;
  // A sequence of pages belongs to a key.
  const headers = { authorization: `Bearer ${await client.key()}` };
  const got: Got[] = [];
  const rows: PlainRow[] = [];
  for (let offset = 0, count = 1; offset < count; offset += limit) {
    const page = await client.api(`/projects/${project}/${kind}?${query}&offset=${offset}`, { headers });
    got.push(page);
    const body = json(page);
    rows.push(...body[kind]);
    count = body.paging.total;
  }
  const table = kind === 'queries' ? 'query_daily' : 'page_daily';
  checkState(truth, got, (state) => {
    const all = [...truth.sums(state, { project, table, by: key }, period(state, days))];
    const ranked = all.toSorted(
      ([textA, a], [textB, b]) => b.clicks - a.clicks || b.impressions - a.impressions || (textA < textB ? -1 : 1),
    );
    return wrongList(pairs(rows, key), new Map(ranked.filter(([, { clicks }]) => clicks >= least)));
  });
};

const breakdowns: Kind = async ({ client, truth, random }) => {
  const project = random.pick(PROJECTS);
  const length = random.pick(DAYS);
  const got = await client.api(`/projects/${project}/breakdowns?period=${length}d`);
  const body = json(got);
  checkState(truth, [got], (state) => {
    const sums = (table: string, by: string) => truth.sums(state, { project, table, by }, period(state, length));
    return first([
      () => wrongRows('countries', pairs(body.countries, 'country'), sums('country_daily', 'country')),
      () => wrongRows('devices', pairs(body.devices, 'device'), sums('site_daily', 'device')),
      () => wrongRows('appearances', pairs(body.appearances, 'appearance'), sums('appearance_daily', 'appearance')),
      () => wrongMetrics('brand', body.brand.brand, sums('brand_daily', 'segment').get('brand')!),
      () => wrongMetrics('nonBrand', body.brand.nonBrand, sums('brand_daily', 'segment').get('non_brand')!),
    ]);
  });
};

/** Both projects in one answer, of one state. */
const portfolio: Kind = async ({ client, truth, random }) => {
  const length = random.pick(DAYS);
  const got = await client.api(`/portfolio?period=${length}d`);
  const { projects } = json(got);
  checkState(truth, [got], (state) =>
    first(
      PROJECTS.map((project) => () => {
        const sums = truth.sums(state, { project, table: 'site_daily', by: 'date' }, period(state, length));
        return wrongMetrics(project, projects.find(({ id }) => id === project)?.totals, total(sums));
      }),
    ),
  );
};

/** An answer that the client has: 304, unless a load came in between. */
const unchanged: Kind = async ({ client, truth, random }) => {
  const path = random.pick(['/projects/Soak1/site', '/projects/Soak2/keywords.csv?period=7d', '/portfolio']);
  const before = await client.api(path);
  const etag = before.headers.get('etag') ?? '';
  const again = await client.api(path, { headers: { 'if-none-match': etag }, others: [304] });
  const isSame = again.status === 304;
  if (isSame && again.bytes.length > 0) throw new Unexpected(`${path}: 304 with ${again.bytes.length} bytes`);
  if (!isSame && truth.between(before.start, again.end).length === 1 && path !== '/portfolio')
    throw new Unexpected(`${path} was sent again, though nothing has changed`);
};

/** The files of the snapshot have the hashes that its manifest names. */
const snapshot: Kind = async ({ client, random }) => {
  const { files } = json(await client.api(`/projects/${random.pick(PROJECTS)}/snapshot`));
  const { href, bytes, sha256 } = random.pick(files);
  const headers = { authorization: `Bearer ${await client.key()}` };
  const got = expectStatus(await client.send('GET', href, headers), [200]);
  const digest = createHash('sha256').update(got.bytes).digest('hex');
  if (got.bytes.length !== bytes || digest !== sha256) throw new Unexpected(`${href} is not the file of the manifest`);
};

/** What is wrong with rows or their order. */
function wrongList(
  rows: readonly (readonly [string, Metrics])[],
  expected: ReadonlyMap<string, Sums>,
): string | undefined {
  return first([
    () => wrongRows('rows', rows, expected),
    () => wrongText('the order', rows.map(([key]) => key).join(' '), [...expected.keys()].join(' ')),
  ]);
}

function wrongText(what: string, found: unknown, right: unknown): string | undefined {
  return found === right ? undefined : `${what} is ${JSON.stringify(found)}, not ${JSON.stringify(right)}`;
}

/** Requests about what the soak has loaded. */
export const FACT_KINDS: Readonly<Record<string, Kind>> = {
  site,
  compare,
  keywords,
  days,
  lists,
  breakdowns,
  portfolio,
  unchanged,
  snapshot,
};
