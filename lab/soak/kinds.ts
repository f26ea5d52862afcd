import type { Random } from '../random.ts';
import { type Client, type Rows, Unexpected } from './client.ts';
import { keywordIds, PROJECTS, type State, type Sums, type Truth } from './truth.ts';

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
const NOTHING: Sums = { clicks: 0, impressions: 0 };
/** Rows as `[KEY, clicks, impressions]`. */
const named = (rows: Rows, key: string) =>
  rows.map((row) => [row[key], Number(row['clicks']), Number(row['impressions'])]);
const expectedRows = (sums: Iterable<readonly [string, Sums]>) =>
  [...sums].map(([key, { clicks, impressions }]) => [key, clicks, impressions]);
const linesOf = (text: string): Rows =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Rows[number]);
const total = (sums: ReadonlyMap<string, Sums>): number =>
  [...sums.values()].reduce((all, { clicks }) => all + clicks, 0);

const site: Kind = async ({ client, truth, random }) => {
  const [project, days, format] = [random.pick(PROJECTS), random.pick(DAYS), random.pick(['', '.ndjson'])];
  const device = random.pick(['all', 'desktop', 'tablet']);
  const answer = await client.send(`/projects/${project}/site${format}?period=${days}d&device=${device}`);
  return {
    found: named(format === '' ? answer.body.daily : linesOf(answer.text), 'date'),
    expected: (state) =>
      expectedRows(
        truth.sums(state, [project, 'site_daily', 'date'], days, (fact) => [fact['device'], 'all'].includes(device)),
      ),
  };
};

const keywords: Kind = async ({ client, truth, random }) => {
  const [project, days, least] = [random.pick(PROJECTS), random.pick(DAYS), random.pick([0, 1, 50, 400])];
  const isSorted = random.chance(0.5);
  const query = `period=${days}d&limit=1000&filter=clicks:gte:${least}${isSorted ? '&sort=-impressions' : ''}`;
  const { body } = await client.send(`/projects/${project}/keywords?${query}`);
  const rows = body.keywords.map(({ id, metrics }) => ({ id, ...metrics }));
  return {
    found: named(rows, 'id'),
    expected: (state) => {
      const sums = truth.sums(state, [project, 'keyword_daily', 'keyword_id'], days);
      const all = keywordIds(truth.rows).map((id) => [id, sums.get(id) ?? NOTHING] as const);
      const left = all.filter(([, { clicks }]) => clicks >= least);
      return expectedRows(isSorted ? left.toSorted(([, a], [, b]) => b.impressions - a.impressions) : left);
    },
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

/** An answer that the client has: 304 without bytes, unless a load came in between. */
const unchanged: Kind = async ({ client, truth, random }) => {
  const path = random.pick(['/projects/Soak1/site', '/projects/Soak2/keywords.csv?period=7d']);
  const start = performance.now();
  const { headers } = await client.send(path);
  const again = { headers: { 'if-none-match': headers.get('etag') ?? '' }, statuses: [200, 304] };
  const { status, text } = await client.send(path, again);
  const isSame = truth.between(start, performance.now()).length === 1;
  if (status === 304 ? text !== '' : isSame) throw new Unexpected(`${path} was sent again: ${status}`);
  return undefined;
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
  ['/projects/Soak1/keywords.parquet?daily=1&period=14d', 200],
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
  keywords,
  lists,
  portfolio,
  unchanged,
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
