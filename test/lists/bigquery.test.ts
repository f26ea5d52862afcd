// Lists come from the BigQuery export where it has them, and else from the reporting API.
import t from 'tap';
import { removeConnection } from '../../server/catalog/connections.ts';
import { dashboardOf } from '../dashboard/dashboard-of.ts';
import { DATASET, fakeBigQuery, LOG_COLUMNS, SITE_COLUMNS, URL_COLUMNS } from '../fakes/bigquery.ts';
import { ordinate } from '../fakes/command-line.ts';
import { connect, connectedWorld, credentialsFile } from '../fakes/connected.ts';
import { withoutPauses } from '../fakes/without-pauses.ts';

const FINAL = 'from=2026-02-01&to=2026-02-28';
const SITE = "'sc-domain:shop.example'";

t.test('the warehouse', async (t) => {
  const warehouse = await fakeBigQuery(t);
  const world = await connectedWorld(t, {
    environment: { ORDINATE_LISTS_WAIT_SECONDS: '60', ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000' },
  });
  const { ask, google } = world;
  const { tokenUrl: tokenEndpoint } = google;
  const credentials = credentialsFile(t);
  const connectWarehouse = (location: string | null = null) =>
    connect(world.catalog, {
      kind: 'bigquery',
      credentials,
      endpoint: warehouse.url,
      tokenEndpoint,
      dataset: DATASET,
      location,
    });
  google.queries = [{ key: 'from the api', clicks: 1, impressions: 2, position: 1 }];
  google.pages = google.queries;
  await connectWarehouse();

  await t.test('a dataset that is not the export: the reporting API serves', async (t) => {
    t.equal((await ask(`/queries?${FINAL}`)).body.source.kind, 'gsc');
    t.match(world.fetches(), [
      { source: 'bigquery', outcome: 'misconfigured', reason: /no table searchdata_url_impression/ },
      { source: 'search-console', outcome: 'fetched' },
    ]);
  });

  await warehouse.table('searchdata_url_impression', URL_COLUMNS);
  await warehouse.run(`insert into \`{d}.searchdata_url_impression\` values
    (date '2026-02-01', ${SITE}, 'https://shop.example/a', 'shoes', false, 'deu', 'WEB', 'MOBILE', 10, 1, 20),
    (date '2026-02-28', ${SITE}, 'https://shop.example/a', 'shoes', false, 'usa', 'web', 'MOBILE', 30, 2, 40),
    (date '2026-02-28', ${SITE}, 'https://shop.example/b', null, true, 'DEU', 'WEB', 'MOBILE', 50, 3, 0),
    (date '2026-02-28', ${SITE}, 'https://shop.example/c', '', true, 'deu', 'IMAGE', 'MOBILE', 70, 9, 0),
    (date '2026-02-28', 'https://other.example/', 'https://other.example/', 'x', false, 'deu', 'WEB', 'MOBILE', 9, 9, 0)`);

  await t.test('days that the export has not: the reporting API serves', async (t) => {
    await connectWarehouse('EU');
    t.equal((await ask(`/pages?${FINAL}`)).body.source.kind, 'gsc', 'days without rows are unknown');
    t.match(world.fetches().at(-2), { source: 'bigquery', outcome: 'not-covered' });
  });

  await warehouse.table('ExportLog', LOG_COLUMNS);
  for (const namespace of ['SEARCHDATA_URL_IMPRESSION', 'SEARCHDATA_SITE_IMPRESSION']) {
    await warehouse.run(`insert into \`{d}.ExportLog\`
      select 'SEARCHDATA', '${namespace}', day, 0, timestamp '2026-03-02 00:00:00'
      from unnest(generate_date_array(date '2026-01-20', date '2026-03-12')) as day`);
  }

  await t.test('pages, counted by page, web only', async (t) => {
    await connectWarehouse();
    const { body } = await ask(`/pages?${FINAL}`);
    t.strictSame([body.source.kind, body.source.truncated, body.source.capped], ['bigquery', false, false]);
    t.strictSame(body.pages, [
      { url: 'https://shop.example/b', clicks: 3, impressions: 50, ctr: 0.06, position: 1 },
      { url: 'https://shop.example/a', clicks: 3, impressions: 40, ctr: 0.075, position: 2.5 },
    ]);
    const german = await ask(`/pages?${FINAL}&country=deu`);
    t.match(german.body.pages, [{ clicks: 3 }, { clicks: 1, impressions: 10, position: 3 }]);
    const { query } = warehouse.jobs.at(-1)?.configuration ?? {};
    t.match(query, { maximumBytesBilled: '100000000000', parameterMode: 'named' });
  });

  await t.test('the gap of the export is an event of its lists', async (t) => {
    const { quality, pages } = (await ask(`/pages?${FINAL}&compare=2026-01-20..2026-02-16&quality=1`)).body;
    t.match(quality.events, [{ from: '2025-05-13' }, { from: '2026-02-28', to: '2026-03-01' }]);
    t.ok(pages[0].unsafe.clicks.includes('provider_event'));
    t.strictSame((await ask('/pages?from=2026-02-01&to=2026-02-27&quality=1')).body.quality.events.length, 1);
    const explained = (await ask(`/explain?${FINAL}&compare=2026-01-20..2026-02-16`)).body;
    t.match(explained.source, { kind: 'bigquery' });
    t.match(explained.events, [{ from: '2025-05-13' }, { from: '2026-02-28', to: '2026-03-01' }]);
    const across = (await ask('/pages?from=2026-02-01&to=2026-02-07&compare=2026-03-02..2026-03-08')).body;
    t.match(across.source, { kind: 'bigquery', comparison: { kind: 'bigquery' } });
    t.notOk(across.pages[0].unsafe.clicks.includes('provider_event'), 'days on either side of it are counted alike');
  });

  await t.test('a range that only the reporting API has is of another source', async (t) => {
    const { body } = await ask(`/pages?${FINAL}&compare=2025-12-01..2025-12-28`);
    t.match(body.source, { kind: 'bigquery', comparison: { kind: 'gsc' } });
    for (const { unsafe } of body.pages) t.ok(unsafe.clicks.includes('different_source'));
  });

  await t.test('queries without the site table come from the rows by page', async (t) => {
    const { body } = await ask(`/queries?${FINAL}`);
    t.match(body.queries, [{ query: 'shoes', clicks: 3, impressions: 40, position: 2.5 }]);
    t.equal(body.queries.length, 1, 'anonymised rows are out');
  });

  await t.test('queries come from the site table where there is one, with instants for days too', async (t) => {
    await warehouse.table('searchdata_site_impression', SITE_COLUMNS.replace('DATE', 'TIMESTAMP'));
    await warehouse.run(`insert into \`{d}.searchdata_site_impression\` values
      (timestamp '2026-02-10 00:00:00', ${SITE}, 'by property', false, 'deu', 'WEB', 'MOBILE', 10, 1, 20),
      (timestamp '2026-02-28 00:00:00', ${SITE}, null, true, 'deu', 'WEB', 'MOBILE', 10, 1000, 20)`);
    await connectWarehouse('EU');
    const { body } = await ask(`/queries?${FINAL}`);
    t.match([body.paging.total, body.queries], [1, [{ query: 'by property', clicks: 1, position: 3 }]]);
  });

  await t.test('the queries of a page and the pages of a query come from the rows by page', async (t) => {
    await connectWarehouse();
    const dashboard = await dashboardOf(world);
    const read = async (path: string) => {
      const { body } = await dashboard(`Proj1/${path}&${FINAL}`);
      t.equal(body.source.kind, 'bigquery');
      return (body.pages ?? body.queries) as object[];
    };
    const ofPage = `queries-of-page?page=${encodeURIComponent('https://shop.example/a')}`;
    t.match(await read(ofPage), [{ query: 'shoes', clicks: 3, impressions: 40, position: 2.5 }]);
    t.match(await read(`${ofPage}&device=mobile&country=usa`), [{ query: 'shoes', clicks: 2 }]);
    t.strictSame(await read(`${ofPage}&device=desktop`), []);
    t.match(await read('pages-of-query?query=shoes'), [{ url: 'https://shop.example/a', clicks: 3 }]);
    t.strictSame(await read('pages-of-query?query=boots'), []);
    await connectWarehouse('EU');
  });

  await t.test('100,000 rows of more are held', async (t) => {
    warehouse.rows = 100_001;
    const { body } = await ask('/queries?from=2026-02-09&to=2026-02-11&limit=2&offset=99998');
    t.match(body.source, { kind: 'bigquery', truncated: true, capped: true });
    t.strictSame(body.paging, { total: 100_000, limit: 2, offset: 99_998 });
    t.match(body.queries, [{ query: 'query 99997' }, { query: 'query 99998', position: 3 }]);
    t.match(warehouse.jobs.at(-1)?.configuration.query['queryParameters'], [
      { name: 'from', parameterType: { type: 'DATE' }, parameterValue: { value: '2026-02-09' } },
      { name: 'to', parameterType: { type: 'DATE' }, parameterValue: { value: '2026-02-11' } },
      { name: 'site', parameterValue: { value: 'sc-domain:shop.example' } },
      { name: 'country', parameterValue: { value: '' } },
      { name: 'max', parameterType: { type: 'INT64' }, parameterValue: { value: '100001' } },
    ]);
    warehouse.rows = 100_000;
    const exact = await ask('/queries?from=2026-02-10&to=2026-02-11&limit=1');
    t.match(exact.body.source, { truncated: false, capped: true });
    warehouse.rows = undefined;
  });

  await t.test(
    'it is out of reach, over quota, or closed: the reporting API serves, and the warehouse later',
    async (t) => {
      withoutPauses(t);
      const failures = {
        closed: {
          status: 403,
          body: { error: { code: 403, errors: [{ reason: 'accessDenied' }], message: 'Access Denied' } },
        },
        quota: { status: 403, body: { error: { code: 403, errors: [{ reason: 'quotaExceeded' }], message: 'Quota' } } },
        reset: 'reset',
        dear: {
          status: 400,
          body: { error: { code: 400, errors: [{ reason: 'bytesBilledLimitExceeded' }], message: 'x' } },
        },
      } as const;
      const outcomes = { closed: 'access-lost', quota: 'load-quota', reset: 'broken', dear: 'misconfigured' };
      await connectWarehouse();
      let day = 1;
      for (const [name, failure] of Object.entries(failures)) {
        world.clock += 3_600_000;
        day += 1;
        warehouse.failure = failure;
        const path = `/pages?from=2026-02-0${day}&to=2026-02-28`;
        const { body } = await ask(path);
        t.strictSame([body.source.kind, body.pages[0].url], ['gsc', 'from the api'], name);
        t.match(world.fetches().at(-2), { source: 'bigquery', outcome: outcomes[name as keyof typeof outcomes] }, name);
        warehouse.failure = undefined;
        t.equal((await ask(path)).body.source.kind, 'gsc', 'one list has one source');
        world.clock += 3_600_000;
        t.equal((await ask(path)).body.source.kind, 'bigquery', 'a second best list is not for ever');
      }
    },
  );

  await t.test('the command that tests it says what it has, and what is wrong', async (t) => {
    const works = await ordinate(world.dataFolder, 'connections', 'test', '--project', 'Proj1');
    t.match(works.out, /^Works: The warehouse has the days 2026-01-20 to 2026-03-12; .*searchdata_site_impression/);
    t.match(works.out, /^Works: The reporting API can read sc-domain:shop.example/m);
    warehouse.failure = {
      status: 403,
      body: { error: { code: 403, errors: [{ reason: 'accessDenied' }], message: 'Access Denied: Dataset' } },
    };
    const refused = await ordinate(world.dataFolder, 'connections', 'test', '--project', 'Proj1');
    t.match(refused, { code: 1, out: /^Does not work: .*Access Denied: Dataset.*\n {2}Give the identity the roles/ });
    warehouse.failure = undefined;
  });

  await t.test('alone, it serves without the newest days, and what it has not is unavailable', async (t) => {
    await removeConnection(world.catalog, 'Proj1', 'search-console');
    const newest = await ask('/pages?from=2026-02-01&to=2026-03-14');
    t.strictSame([newest.status, newest.body.source.kind], [200, 'bigquery']);
    const before = await ask('/pages?from=2026-01-01&to=2026-02-14');
    t.strictSame([before.status, before.body.error.code], [503, 'unavailable']);
    warehouse.failure = {
      status: 404,
      body: { error: { code: 404, errors: [{ reason: 'notFound' }], message: 'Not found' } },
    };
    await connectWarehouse();
    const lost = await ask('/pages?from=2026-02-03&to=2026-02-14');
    t.strictSame([lost.status, lost.body.error.code], [409, 'google_access_lost']);
  });
});
