import { type Body, json } from './body.ts';
import { checkState, first, wrongMetrics } from './checks.ts';
import { keywordIds, PROJECTS } from './facts.ts';
import { expectStatus, Unexpected } from './http.ts';
import type { Kind } from './kinds.ts';
import { period, type State, total } from './truth.ts';

/** Requests that must be refused, each with its status. */
const HOSTILE: readonly (readonly [string, number])[] = [
  ['/projects/Soak1/site?period=0d', 400],
  ['/projects/Soak1/site?period=7d&from=2025-12-01', 400],
  ['/projects/Soak1/site?from=2025-99-99', 400],
  ['/projects/Soak1/site?country=zz', 400],
  ['/projects/Soak1/site?compare=never', 400],
  ['/projects/Soak1/site?period=7d&period=8d', 400],
  ['/projects/Soak1/site?format=xml', 400],
  ['/projects/Soak1/keywords?limit=0', 400],
  ['/projects/Soak1/keywords?limit=1e9', 400],
  ['/projects/Soak1/keywords?offset=-1', 400],
  ['/projects/Soak1/keywords?device=phone', 400],
  ['/projects/Soak1/keywords?filter=clicks:like:1', 400],
  ['/projects/Soak1/keywords?filter=query:matches:(a+', 400],
  ["/projects/Soak1/keywords?sort=query'%20or%201=1;--", 400],
  ['/projects/Soak1/keywords?group=Nope1', 404],
  ["/projects/Soak1'%20or%201=1/site", 404],
  ['/projects/..%2f..%2fcatalog.sqlite/site', 404],
  ['/projects/%00%00/site', 404],
  ['/projects/Soak1/snapshot/..%2f..%2f..%2fcatalog.sqlite', 404],
  ['/projects/Soak1/nothing', 404],
  [`/projects/${'%2525'.repeat(2000)}/site`, 404],
  [`/projects/Soak1/site?x=${'a'.repeat(20_000)}`, 431],
];

const hostile: Kind = async ({ client, random }) => {
  const [path, right] = random.pick(HOSTILE);
  const { status, body } = await client.raw(`/api/v1${path}`);
  const code = right === 404 ? '"not_found"' : '"invalid_request"';
  if (status !== right || !body.includes(code))
    throw new Unexpected(`${path.slice(0, 100)} was answered with ${status}, not ${right}: ${body.slice(0, 300)}`);
};

/** After 30 failures in a minute the address is refused with 429. */
const badKey: Kind = async ({ client, random }) => {
  const authorization = random.pick(['', 'Bearer', `Bearer ord_live_${'x'.repeat(32)}`, 'Basic eDp5', 'Bearer \u00e9']);
  const got = expectStatus(
    await client.send('GET', '/api/v1/projects', authorization === '' ? {} : { authorization }),
    [401, 429],
  );
  const needed = got.status === 401 ? 'www-authenticate' : 'retry-after';
  if (!got.headers.has(needed)) throw new Unexpected(`${got.status} came without ${needed}`);
};

/** A client that hangs up must not disturb others. */
const aborted: Kind = async ({ client, random }) => {
  await client.abort('/projects/Soak1/keywords?daily=1&period=40d', random.whole(0, 15));
  expectStatus(await client.send('GET', '/livez'), [200]);
};

const entities: Kind = async ({ client, truth, random }) => {
  const project = random.pick(PROJECTS);
  const counts = {
    groups: ['groups', 1],
    'page-groups': ['pageGroups', 1],
    notes: ['notes', 1],
  } as const;
  const [path, [list, count]] = random.pick(Object.entries(counts));
  const found = json(await client.api(`/projects/${project}/${path}`))[list].length;
  if (found !== count) throw new Unexpected(`${path} has ${found} rows, not ${count}`);
  if (!Array.isArray(json(await client.api(`/projects/${project}/alerts`)).alerts)) throw new Unexpected('no alerts');
  const got = await client.api('/projects');
  const { projects } = json(got);
  const own = projects.find(({ id }) => id === project);
  checkState(truth, [got], ({ lastDay }) =>
    own?.syncedThrough === lastDay && own.trackedKeywords === truth.sizes.keywords
      ? undefined
      : `${project} is ${JSON.stringify(own)}, not of ${lastDay}`,
  );
};

/** The first ten keywords are a group. */
const group: Kind = async ({ client, truth, random }) => {
  const project = random.pick(PROJECTS);
  const got = await client.api(`/projects/${project}/keywords?group=Group&period=14d`);
  const { keywords } = json(got);
  const ids = keywordIds(truth.sizes).slice(0, 10);
  checkState(truth, [got], (state) => {
    const sums = truth.sums(state, { project, table: 'keyword_daily', by: 'keyword_id' }, period(state, 14));
    return first(
      ids.map((id) => () => wrongMetrics(id, keywords.find((one) => one.id === id)?.metrics, sums.get(id)!)),
    );
  });
};

const agents: Kind = async ({ client, truth, random }) => {
  const project = random.pick(PROJECTS);
  const call = { name: 'site_performance', arguments: { project, period: '14d' } };
  const headers = {
    authorization: `Bearer ${await client.key()}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-06-18',
  };
  const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call });
  const got = expectStatus(await client.send('POST', '/mcp', headers, request), [200]);
  const text = got.bytes.toString();
  const message = (text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '')) || 'null';
  const answer = JSON.parse(message) as { result?: { content: { text: string }[] } } | null;
  const said = answer?.result?.content[0]?.text;
  if (said === undefined) throw new Unexpected(`/mcp answered ${text.slice(0, 300)}`);
  const { totals } = JSON.parse(said) as Pick<Body, 'totals'>;
  checkState(truth, [got], (state) => wrongMetrics('totals', totals, totalOf(state, truth, project, 14)));
};

/** Signs in, asks as the page does, and signs out. */
const dashboard: Kind = async ({ client, truth, random }) => {
  const project = random.pick(PROJECTS);
  const page = { 'sec-fetch-site': 'same-origin' };
  const key = await client.key();
  const signedIn = await client.send('POST', '/app/session', { ...page, authorization: `Bearer ${key}` });
  expectStatus(signedIn, [200, 201, 204]);
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  await client.key();
  const got = expectStatus(
    await client.send('GET', `/app/api/projects/${project}/site?period=14d`, { ...page, cookie }),
    [200],
  );
  const { totals } = json(got);
  checkState(truth, [got], (state) => wrongMetrics('totals', totals, totalOf(state, truth, project, 14)));
  expectStatus(await client.send('DELETE', '/app/api/session', { ...page, cookie }), [204]);
  expectStatus(await client.send('GET', '/app/api/projects', { ...page, cookie }), [401, 429]);
};

const OPEN = ['/livez', '/readyz', '/openapi.json', '/docs/guide', '/docs/guide/operate', '/app'];

const open: Kind = async ({ client, random }) => {
  expectStatus(await client.send('GET', random.pick(OPEN)), [200]);
};

/** The synced project: its days add up, and its lists come from the model of the provider. */
const synced: Kind = async ({ client, random, synced: project }) => {
  if (project === undefined) return;
  const { totals, daily } = json(await client.api(`/projects/${project}/site?period=14d`));
  const sum = daily.reduce((all, { clicks }) => all + Number(clicks), 0);
  if (sum !== totals.clicks)
    throw new Unexpected(`the days of ${project} have ${sum} clicks, its totals ${String(totals.clicks)}`);
  const period = random.pick(['7d', '14d', '28d']);
  const got = await client.api(`/projects/${project}/${random.pick(['queries', 'pages'])}?period=${period}&limit=5`);
  if (json(got).source.kind !== 'gsc') throw new Unexpected(`${got.path} comes from ${json(got).source.kind}`);
};

function totalOf(state: State, truth: Parameters<Kind>[0]['truth'], project: string, days: number) {
  return total(truth.sums(state, { project, table: 'site_daily', by: 'date' }, period(state, days)));
}

/** All other requests. */
export const OTHER_KINDS: Readonly<Record<string, Kind>> = {
  hostile,
  badKey,
  aborted,
  entities,
  group,
  agents,
  dashboard,
  open,
  synced,
};
