// Owners dismiss findings for the whole workspace until they change materially, and list them again, with a trail.
import t from 'tap';
import { LAST, SITE } from '../findings/site.ts';
import { audited, eachRole, makeTeam } from './team.ts';

const FINDINGS = '/projects/Proj1/findings';
const PATH = `${FINDINGS}/dismissed`;
const days = { from: '2026-02-08', to: LAST };
const dull = { type: 'low_ctr', query: 'dull title', ...days };
const split = { type: 'split', query: 'two pages', ...days };

interface Found {
  readonly type: string;
  readonly query?: string;
  readonly dismissal?: string;
}

/** The row of each finding of a type. */
const rowsOf = ({ findings }: { findings: readonly Found[] }, type: string) =>
  findings.filter((one) => one.type === type).map(({ query }) => query);

t.test('a dismissed finding is hidden from all, shown on request, and comes back when it is restored', async (t) => {
  const { send, read, app, key, catalog } = await makeTeam(t, SITE);
  const before = (await read(FINDINGS)).body;
  t.ok(rowsOf(before, 'low_ctr').includes('dull title'));
  t.equal(before.dismissed, 0);

  const dismissed = (await send('owner', 'POST', PATH, dull)).body;
  t.match(dismissed, { dismissedBy: 'owner@acme.example', dismissedAt: '2026-03-15T12:00:00.000Z' });
  const { dismissal } = dismissed;
  const after = (await read(FINDINGS)).body;
  t.notOk(rowsOf(after, 'low_ctr').includes('dull title'));
  t.equal(after.dismissed, 1);
  t.equal(after.paging.total, before.paging.total - 1);
  t.strictSame(after.tested, before.tested, 'what was tested and found stays the same');
  t.ok(rowsOf(after, 'falling').includes('dull title'), 'another finding about the same query stays');

  const all = (await read(`${FINDINGS}?dismissed=1`)).body;
  const marked = all.findings.filter((one: Found) => one.dismissal !== undefined);
  t.match(marked, [{ type: 'low_ctr', query: 'dull title', ...dismissed }]);
  t.equal(marked.length, 1);
  const undismissed = all.findings.map((one: Found) =>
    Object.fromEntries(Object.entries(one).filter(([name]) => !name.startsWith('dismiss'))),
  );
  t.strictSame(undismissed, before.findings, 'nothing else differs');
  const headers = { authorization: `Bearer ${key}` };
  const csv = await app.inject({ url: `/api/v1${FINDINGS}.csv?dismissed=1&type=low_ctr`, headers });
  t.match(csv.body, /,2026-03-15T12:00:00\.000Z,owner@acme\.example\r\n/);

  t.equal((await send('admin', 'DELETE', `${PATH}/${dismissal}`)).status, 204);
  t.strictSame((await read(FINDINGS)).body, before);
  t.equal((await send('admin', 'DELETE', `${PATH}/${dismissal}`)).status, 404);
  const details = { project: 'Proj1', type: 'low_ctr', query: 'dull title', country: null };
  t.strictSame(await audited(catalog, 'finding.dismissed'), [
    { actor: 'owner@acme.example', subject: dismissal, details },
  ]);
  t.strictSame(await audited(catalog, 'finding.restored'), [
    { actor: 'admin@acme.example', subject: dismissal, details },
  ]);
});

t.test('entity tags follow what is dismissed', async (t) => {
  const { send, app, key } = await makeTeam(t, SITE);
  const ask = (tag?: string) =>
    app.inject({
      url: `/api/v1${FINDINGS}`,
      headers: { authorization: `Bearer ${key}`, ...(tag && { 'if-none-match': tag }) },
    });
  const tag = String((await ask()).headers['etag']);
  t.equal((await ask(tag)).statusCode, 304);
  await send('owner', 'POST', PATH, split);
  t.equal((await ask(tag)).statusCode, 200);
});

t.test('who may dismiss and restore', async (t) => {
  const { send } = await makeTeam(t, SITE);
  await eachRole(t, send, { allowed: ['owner', 'admin'], status: 201 }, async () => ['POST', PATH, dull]);
  const { dismissal: id } = (await send('owner', 'POST', PATH, dull)).body;
  t.equal((await send('owner', 'DELETE', `/projects/Proj2/findings/dismissed/${id}`)).status, 404, 'another project');
  t.equal((await send('other', 'DELETE', `/projects/Other/findings/dismissed/${id}`)).status, 404, 'another workspace');
  for (const who of ['stranger', 'other', 'key', 'member'] as const) {
    const status = who === 'stranger' ? 401 : who === 'other' ? 404 : 403;
    t.equal((await send(who, 'DELETE', `${PATH}/${id}`)).status, status, who);
  }
});

t.test('a page of another origin dismisses nothing', async (t) => {
  const { app, cookies, read } = await makeTeam(t, SITE);
  const response = await app.inject({
    method: 'POST',
    url: `/app/api${PATH}`,
    headers: {
      'sec-fetch-site': 'cross-site',
      host: 'localhost',
      'content-type': 'application/json',
      cookie: cookies.get('owner')!,
    },
    payload: JSON.stringify(dull),
  });
  t.equal(response.statusCode, 403);
  t.equal((await read(FINDINGS)).body.dismissed, 0);
});

t.test('more of the same loads keeps it dismissed; a split over other pages does not', async (t) => {
  const { send, read, load } = await makeTeam(t, SITE);
  await send('owner', 'POST', PATH, split);
  t.strictSame(rowsOf((await read(FINDINGS)).body, 'split'), []);
  const moved = SITE['keyword_page_daily']!.map((row) => ({ ...row, url: String(row['url']).replace('/b', '/c') }));
  await load({ keyword_page_daily: SITE['keyword_page_daily']! }, { replace: true });
  t.strictSame(rowsOf((await read(FINDINGS)).body, 'split'), []);
  await load({ keyword_page_daily: moved }, { replace: true });
  t.strictSame(rowsOf((await read(FINDINGS)).body, 'split'), ['two pages']);
});

t.test('what is not found, and what is wrong, is refused', async (t) => {
  const { send } = await makeTeam(t, SITE);
  t.match(await send('owner', 'POST', PATH, { ...dull, query: 'usual 3' }), {
    status: 409,
    message: /nothing was dismissed/,
  });
  for (const [body, field] of [
    [{ type: 'low_ctr', ...days }, 'page'],
    [{ ...dull, page: 'https://shop.example/1' }, 'page'],
    [{ ...dull, type: 'odd' }, 'type'],
    [{ ...dull, from: '2026-02-30' }, 'from'],
    [{ ...dull, country: 'Germany' }, 'country'],
    [{ ...dull, q: 0.5 }, 'q'],
  ] as const) {
    t.match(await send('owner', 'POST', PATH, body), { status: 400, message: new RegExp(`\\b${field}\\b`) }, field);
  }
});
