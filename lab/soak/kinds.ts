import type { Random } from '../../test/random.ts';
import { type Client, type Rows, Unexpected } from './client.ts';
import { PROJECTS, type State, type Sums, type Truth } from './truth.ts';

export interface Traffic {
  readonly client: Client;
  readonly truth: Truth;
  readonly random: Random;
}

/** What answers say, and what they must say in a state. */
interface Said {
  readonly found: unknown;
  readonly expected: (state: State) => unknown;
}

/** Sends requests; returns nothing where a status is all that there is to check. */
type Kind = (traffic: Traffic) => Promise<Said | undefined>;

const DAYS = [1, 7, 14, 28, 40];
/** Rows as `[KEY, clicks, impressions]`. */
const named = (rows: Rows, key: string) =>
  rows.map((row) => [row[key], Number(row['clicks']), Number(row['impressions'])]);
const expectedRows = (sums: Iterable<readonly [string, Sums]>) =>
  [...sums].map(([key, { clicks, impressions }]) => [key, clicks, impressions]);
const total = (sums: ReadonlyMap<string, Sums>): number =>
  [...sums.values()].reduce((all, { clicks }) => all + clicks, 0);

const site: Kind = async ({ client, truth, random }) => {
  const [project, days] = [random.pick(PROJECTS), random.pick(DAYS)];
  const { body } = await client.send(`/projects/${project}/site?period=${days}d`);
  return {
    found: named(body.daily, 'date'),
    expected: (state) => expectedRows(truth.sums(state, [project, 'site_daily', 'date'], days)),
  };
};

/** All pages of a list, which must be those of one list. */
const lists: Kind = async ({ client, truth, random }) => {
  const [project, days, limit] = [random.pick(PROJECTS), random.pick([7, 14, 28]), random.pick([20, 1000])];
  const [kind, table, column] = random.pick([
    ['queries', 'query_daily', 'query'],
    ['pages', 'page_daily', 'url'],
  ] as const);
  // A sequence of pages belongs to a key.
  const key = client.key();
  const rows: Rows[] = [];
  for (let offset = 0, count = 1; offset < count; offset += limit) {
    const path = `/projects/${project}/${kind}?period=${days}d&limit=${limit}&offset=${offset}`;
    const { body } = await client.send(path, { key });
    rows.push(body[kind]);
    count = body.paging.total;
  }
  return {
    found: named(rows.flat(), column),
    expected: (state) =>
      expectedRows(
        [...truth.sums(state, [project, table, column], days)].sort(
          ([nameA, a], [nameB, b]) => b.clicks - a.clicks || b.impressions - a.impressions || (nameA < nameB ? -1 : 1),
        ),
      ),
  };
};

/** Both projects in one answer, of one state. */
const portfolio: Kind = async ({ client, truth, random }) => {
  const days = random.pick(DAYS);
  const { body } = await client.send(`/portfolio?period=${days}d`);
  return {
    found: PROJECTS.map((id) => body.projects.find((one) => one.id === id)?.totals.clicks),
    expected: (state) => PROJECTS.map((id) => total(truth.sums(state, [id, 'site_daily', 'date'], days))),
  };
};

/** Signs in, asks as the page does, and signs out. */
const dashboard: Kind = async ({ client, random }) => {
  const page = { 'sec-fetch-site': 'same-origin' };
  const signedIn = await client.send('POST /app/session', { headers: page, statuses: [200, 201, 204] });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const as = { key: '', headers: { ...page, cookie } };
  await client.send(`GET /app/api/projects/${random.pick(PROJECTS)}/site?period=14d`, as);
  await client.send('DELETE /app/api/session', { ...as, statuses: [204] });
  await client.send('GET /app/api/projects', { ...as, statuses: [401, 429] });
  return undefined;
};

/** A client that hangs up must not disturb others. */
const aborted: Kind = async ({ client, random }) => {
  const signal = AbortSignal.timeout(random.whole(1, 15));
  await client.send('/projects/Soak1/keywords.csv?daily=1&period=40d', { signal }).catch((error: Error) => {
    if (error.name !== 'TimeoutError' && !(error.cause instanceof Error)) throw error;
  });
  await client.send('GET /livez', { key: '' });
  return undefined;
};

/** Requests whose status is known, whatever is loaded. */
const STATUSES: readonly (readonly [what: string, status: number, key?: ''])[] = [
  ['/projects/Soak1/keywords?filter=clicks:gte:50&sort=-impressions', 200],
  ['/projects/Soak1/keywords.parquet?daily=1&period=14d', 200],
  ['/projects/Soak2/site.ndjson?period=28d&compare=previous', 200],
  ['/projects/Soak2/keywords.arrow?daily=1&period=14d', 200],
  ['/projects/Soak2/breakdowns.csv?period=28d', 200],
  ['/projects/Soak1/snapshot', 200],
  ['/projects/Soak1/alerts', 200],
  ['GET /openapi.json', 200, ''],
  ['GET /docs/guide/operate', 200, ''],
  ['GET /app', 200, ''],
  ['GET /readyz', 200, ''],
  ['/projects', 401, ''],
  ['/projects/Soak1/site?period=7d&from=2025-12-01', 400],
  ['/projects/Soak1/site?period=7d&period=8d', 400],
  ['/projects/Soak1/keywords?filter=query:matches:(a%2B', 400],
  ["/projects/Soak1/keywords?sort=query'%20or%201=1;--", 400],
  ['/projects/..%2f..%2fcatalog.sqlite/site', 404],
  ['/projects/Soak1/snapshot/..%2f..%2f..%2fcatalog.sqlite', 404],
  [`/projects/${'%2525'.repeat(2000)}/site`, 404],
  [`/projects/Soak1/site?x=${'a'.repeat(20_000)}`, 431],
];

const statuses: Kind = async ({ client, random }) => {
  const [what, status, key] = random.pick(STATUSES);
  await client.send(what, { statuses: status === 401 ? [401, 429] : [status], ...(key === undefined ? {} : { key }) });
  return undefined;
};

export const KINDS: Readonly<Record<string, Kind>> = {
  site,
  lists,
  portfolio,
  dashboard,
  aborted,
  statuses,
};

/** Throws unless the answers of a kind show one of the states that were stored meanwhile, as a whole. */
export async function run(kind: Kind, traffic: Traffic): Promise<void> {
  const { truth } = traffic;
  const start = performance.now();
  const said = await kind(traffic);
  if (said === undefined) return;
  const found = JSON.stringify(said.found);
  const states = truth.between(start, performance.now());
  const right = states.filter((state) => JSON.stringify(said.expected(state)) === found);
  if (right.length === 1) truth.seen(right[0]!);
  if (right.length > 0) return;
  const wanted = states.map((state) => `state ${state.number}: ${JSON.stringify(said.expected(state)).slice(0, 400)}`);
  throw new Unexpected(`${found.slice(0, 400)}, not ${wanted.join(' or ')}`);
}
