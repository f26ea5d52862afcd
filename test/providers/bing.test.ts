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

t.test('dates are days at their offset, weeks end on one weekday, and unknown positions stay unknown', (t) => {
  for (const [date, day] of [
    ['/Date(1781247600000-0700)/', '2026-06-12'],
    ['/Date(1781222400000)/', '2026-06-12'],
    ['/Date(1781211600000+0300)/', '2026-06-12'],
    // The first day of the calendar is none.
    ['/Date(-62135568000000)/', null],
    ['/Date(-62135596800000+0000)/', null],
  ] as const)
    t.equal(readDate(date), day, date);
  for (const wrong of ['2026-06-12', '/Date()/', 7, null]) t.throws(() => readDate(wrong), ProviderFailure);
  const row = (ms: number, AvgImpressionPosition: number, Clicks = 1) => ({
    ...{ Date: `/Date(${ms})/`, Query: 'shoes', Clicks, Impressions: 10, AvgImpressionPosition },
  });
  const friday = Date.parse('2026-06-12');
  const sums = [2.5, 1, 0.9, 0, -1].flatMap((position) => readWeeks([row(friday, position)], 'query'));
  const week = { day: '2026-06-11', key: { query: 'shoes' }, clicks: 1, impressions: 10 };
  t.strictSame(
    sums,
    [15, 0, null, null, null].map((sumPosition) => ({ ...week, sumPosition })),
  );
  t.throws(() => readWeeks([row(friday, 2), row(friday + 86_400_000, 2)], 'query'), /weekdays/);
  t.throws(() => readWeeks([row(friday, 2, -1)], 'query'), /numbers/);
  t.end();
});

t.test('a property is its own site, or the only one of its domain', (t) => {
  const sites = ['http://a.example/', 'https://a.example/', 'https://www.b.example/', 'https://b.example/'];
  const deep = 'https://a.example/de/';
  t.equal(siteOf(deep, [...sites, deep]), deep);
  for (const [property, site] of [
    ['http://a.example/', 'http://a.example/'],
    ['sc-domain:a.example', 'https://a.example/'],
    ['https://www.a.example/', 'https://a.example/'],
  ] as const)
    t.equal(siteOf(property, sites), site);
  for (const [property, message] of [
    ['sc-domain:b.example', /several verified sites of b\.example/],
    ['sc-domain:c.example', /no verified site of c\.example/],
    [deep, /no verified site https:\/\/a\.example\/de\/.*larger site/],
  ] as const)
    t.throws(() => siteOf(property, sites), message);
  t.end();
});
