// Every block of code in the page about loading data works as printed.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import t from 'tap';
import { Engine } from '../../server/facts/duckdb/engine.ts';
import { credentialsFile } from '../fakes/connected.ts';
import { fakeSearchConsole } from '../fakes/search-console.ts';
import { runScript as shell } from '../shell.ts';
import { temporaryFolder } from '../world.ts';
import { guideBlock, guideBlocks, triedBlocks } from './blocks.ts';

t.test('the import of a bulk export', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'export'));
  const engine = await Engine.open({
    memoryLimit: '200MB',
    threads: 1,
    temporaryFolder: join(folder, 'temporary'),
    folders: [join(folder, 'export')],
  });
  using session = await engine.session();
  await session.run(
    `copy (select date '2026-03-01' as data_date, 'https://www.acme.example/' as site_url, 'acme' as query,
      false as is_anonymized_query, 'usa' as country, 'WEB' as search_type, 'MOBILE' as device,
      'https://www.acme.example/a' as url, true as is_video, 10 as impressions, 2 as clicks, 15 as sum_position)
      to $target (format parquet)`,
    { target: join(folder, 'export', 'day.parquet') },
  );
  const out = await shell(guideBlock('load', 'import'), folder, { ORDINATE_DATA: join(folder, 'data') });
  t.match(out, /was created; 1 keyword/);
  t.match(out, /ord_live_\w{32}/);
  t.match(out, /site_daily +2026-03-01 +2026-03-01 +1$/m);
  await engine.close();
});

t.test('the import of an export of the user interface', async (t) => {
  const folder = temporaryFolder(t);
  const header = 'Clicks,Impressions,CTR,Position';
  const files = {
    'Chart.csv': `Date,${header}\n2026-03-01,1,10,10%,2\n`,
    'Queries.csv': `Top queries,${header}\nacme,1,10,10%,2\n`,
  };
  const entries = Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]);
  writeFileSync(join(folder, 'export.zip'), zipSync(Object.fromEntries(entries) as Record<string, Uint8Array>));
  const out = await shell(guideBlock('load', 'search-console'), folder, { ORDINATE_DATA: join(folder, 'data') });
  t.match(out, /would be created.*was created/s);
  t.match(out, /^query_period: 1 rows, 2026-03-01 to 2026-03-01$/m);
});

t.test('the load of a snapshot', async (t) => {
  const folder = temporaryFolder(t);
  const out = await shell(guideBlock('load', 'snapshot'), folder, { ORDINATE_DATA: join(folder, 'data') });
  t.match(out, /nothing was loaded \(dry run\)/);
  t.match(out, /Loaded\. Projects: Shop1\./);
});

t.test('a property is connected', async (t) => {
  const folder = temporaryFolder(t);
  const google = await fakeSearchConsole(t);
  google.sites = [{ siteUrl: 'sc-domain:acme.example', permissionLevel: 'siteRestrictedUser' }];
  google.queries = [{ key: 'acme boots', clicks: 1, impressions: 2, position: 1 }];
  const connected = guideBlock('load', 'property').replaceAll(
    '--credentials /etc/ordinate/google.json',
    `--credentials ${credentialsFile(t)} --endpoint ${google.url} --token-endpoint ${google.tokenUrl}`,
  );
  // 16 months take a while; what a sync does has tests of its own.
  const commands = connected.replace(' --sync', '');
  t.not(commands, connected);
  const out = await shell(commands, folder, { ORDINATE_DATA: join(folder, 'data') });
  t.match(out, /sc-domain:acme\.example +siteRestrictedUser\nProject \w{5} was created for .*; it tracks 1 query/);
});

t.test('lists live from the search provider', async (t) => {
  const folder = temporaryFolder(t);
  const google = await fakeSearchConsole(t);
  google.pages = [{ key: 'https://shop.example/', clicks: 1, impressions: 2, position: 1 }];
  google.queries = google.pages;
  const commands = guideBlock('load', 'connect').replace(
    '--credentials /etc/ordinate/google.json',
    `--credentials ${credentialsFile(t)} --endpoint ${google.url} --token-endpoint ${google.tokenUrl}`,
  );
  t.not(commands, guideBlock('load', 'connect'));
  const out = await shell(`${guideBlock('load', 'snapshot')}\n${commands}`, folder, {
    ORDINATE_DATA: join(folder, 'data'),
  });
  t.match(out, /Shop1/);
  const status = await shell('npm run -s ordinate -- lists status --json', folder, {
    ORDINATE_DATA: join(folder, 'data'),
  });
  t.equal((JSON.parse(status) as { lists: number }).lists, 2, 'pages and queries are stored');
});

t.test('every block of the page was tried', (t) => {
  const blocks = guideBlocks().filter(({ page }) => page === 'load');
  t.ok(blocks.length >= 5);
  for (const { page, name } of blocks) t.ok(triedBlocks.has(`${page} ${name}`), name);
  t.end();
});
