// A connection to Bing reads verified sites with a key that no output contains, and says what is missing.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readDate, readWeeks } from '../../server/providers/bing/rows.ts';
import { siteOf } from '../../server/providers/bing/sites.ts';
import { ProviderFailure } from '../../server/providers/failures.ts';
import { BING_ERRORS, fakeBing } from '../fakes/bing.ts';
import { scene } from '../projects/scene.ts';
import { PROJECT, temporaryFolder } from '../world.ts';

const SITE = 'https://www.acme.example/';

t.test('a connection is set with the file of a key, and tested', async (t) => {
  const fake = await fakeBing(t, '2026-06-20');
  const { run } = await scene(t, { projects: [{ ...PROJECT, property: 'sc-domain:acme.example' }] });
  const set = ['connections', 'set', '--project', 'Proj1', '--kind', 'bing', '--endpoint', fake.url];
  const check = async (): Promise<{ code: number | null; out: string }> => {
    const { code, out, error } = await run('connections', 'test', '--project', 'Proj1');
    t.notMatch(out + error, fake.key);
    return { code, out };
  };
  t.match(await run(...set, '--api-key-file', fake.keyFile), { code: 0, out: /connected to bing/ });
  t.match(await check(), { code: 1, out: /no verified site of acme\.example.*\n.*Add the site/ });
  fake.sites.push({ url: SITE, isVerified: false });
  t.match(await check(), { code: 1, out: /no verified site/ }, 'sites that are not verified cannot be read');
  fake.sites.push({ url: SITE, isVerified: true });
  t.match(await check(), { code: 0, out: `Works: Bing can read ${SITE}, which has no data yet.` });
  fake.intercept = () => ({ status: 400, body: BING_ERRORS.invalidKey });
  t.match(await check(), { code: 1, out: /error 3.*\n.*Create an API key/ });
  fake.intercept = () => ({ status: 400, body: BING_ERRORS.throttledHost });
  t.match(await check(), { code: 1, out: /error 5.*\n.*wait ten minutes/ });
  fake.intercept = () => ({ status: 400, body: BING_ERRORS.notAuthorized });
  t.match(await check(), { code: 1, out: /cannot read.*error 14.*\n.*Verify the site/ });
  let answers = 0;
  fake.intercept = () => (++answers === 1 ? { status: 503, body: '<html>busy</html>' } : undefined);
  t.match(await check(), { code: 0, out: /^Works/ }, 'it is asked again');
  t.ok(answers > 1);
  fake.intercept = () => ({ status: 400, body: { ErrorCode: 8, Message: `Bad address ?apikey=${fake.key}` } });
  t.match(await check(), { code: 1, out: /Bad address \?apikey=…/ });
});

t.test('what cannot work is refused when it is set', async (t) => {
  const { run, connection } = await scene(t, { projects: [PROJECT] });
  const set = ['connections', 'set', '--project', 'Proj1', '--kind'];
  t.match(await run(...set, 'bing'), { code: 1, error: /A bing connection needs --api-key-file FILE/ });
  t.match(await run(...set, 'bing', '--api-key-file', '/nowhere'), { code: 1, error: /cannot be read \(ENOENT\)/ });
  const file = join(temporaryFolder(t), 'key');
  writeFileSync(file, 'two words');
  const wrong = await run(...set, 'bing', '--api-key-file', file);
  t.match(wrong, { code: 1, error: /must contain one API key/ });
  t.notMatch(wrong.error, 'two words');
  t.match(await run(...set, 'search-console', ...connection, '--api-key-file', file), {
    code: 1,
    error: /--api-key-file is for bing connections only/,
  });
  t.match(await run(...set, 'bing', '--credentials', file), { code: 1, error: /--credentials/ });
});

t.test('dates are days at their offset, and the first day of the calendar is none', (t) => {
  t.equal(readDate('/Date(1781247600000-0700)/'), '2026-06-12');
  t.equal(readDate('/Date(1781222400000)/'), '2026-06-12');
  t.equal(readDate('/Date(1781211600000+0300)/'), '2026-06-12');
  t.equal(readDate('/Date(-62135568000000)/'), null);
  t.equal(readDate('/Date(-62135596800000+0000)/'), null);
  for (const wrong of ['2026-06-12', '/Date()/', 7, null]) t.throws(() => readDate(wrong), ProviderFailure);
  t.end();
});

t.test('weeks end on one weekday, and unknown positions stay unknown', (t) => {
  const row = (ms: number, Query: string, AvgImpressionPosition: number) => ({
    Date: `/Date(${ms})/`,
    Query,
    Clicks: 1,
    Impressions: 10,
    AvgImpressionPosition,
  });
  const friday = Date.parse('2026-06-12');
  for (const [position, sumPosition] of [
    [2.5, 15],
    [1, 0],
    [0.9, null],
    [0, null],
    [-1, null],
  ] as const) {
    t.strictSame(readWeeks([row(friday, 'shoes', position)], 'query'), [
      { day: '2026-06-11', key: { query: 'shoes' }, clicks: 1, impressions: 10, sumPosition },
    ]);
  }
  t.throws(() => readWeeks([row(friday, 'shoes', 2), row(friday + 86_400_000, 'shoes', 2)], 'query'), /weekdays/);
  t.throws(() => readWeeks([{ ...row(friday, 'shoes', 2), Clicks: -1 }], 'query'), /numbers/);
  t.end();
});

t.test('a property is its own site, or the only one of its domain', (t) => {
  const sites = ['http://a.example/', 'https://a.example/', 'https://www.b.example/', 'https://b.example/'];
  t.equal(siteOf('http://a.example/', sites), 'http://a.example/');
  t.equal(siteOf('sc-domain:a.example', sites), 'https://a.example/');
  t.throws(() => siteOf('sc-domain:b.example', sites), /several verified sites of b\.example/);
  t.throws(() => siteOf('sc-domain:c.example', sites), /no verified site of c\.example/);
  t.equal(siteOf('https://www.a.example/', sites), 'https://a.example/');
  t.throws(() => siteOf('https://a.example/de/', sites), /no verified site https:\/\/a\.example\/de\/.*larger site/);
  t.equal(siteOf('https://a.example/de/', [...sites, 'https://a.example/de/']), 'https://a.example/de/');
  t.end();
});
