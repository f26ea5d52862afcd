// A dismissed finding stays hidden until it changes materially; answers that clients keep are not those of before.
import t from 'tap';
import { LAST, SITE } from '../findings/site.ts';
import { makeTeam } from './team.ts';

const FINDINGS = '/projects/Proj1/findings';
const PATH = `${FINDINGS}/dismissed`;
const days = { from: '2026-02-08', to: LAST };
const split = { type: 'split', query: 'two pages', ...days };

interface Found {
  readonly type: string;
  readonly query?: string;
  readonly dismissal?: string;
}

/** The row of each finding of a type. */
const rowsOf = ({ findings }: { findings: readonly Found[] }, type: string) =>
  findings.filter((one) => one.type === type).map(({ query }) => query);

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
