// What somebody types, presses and saves on the page is what is kept, asked and written.
import { readSheet } from 'read-excel-file/node';
import t from 'tap';
import { facts } from '../world.ts';
import { openPage } from './page-of.ts';
import { makeTeam } from './team.ts';

const team = await makeTeam(t, {
  site_daily: facts('date device', ['2026-03-01', 'mobile', 10, 100, 50], ['2026-02-22', 'mobile', 30, 300, 60]),
  query_daily: facts(
    'query date country',
    ['007', '2026-03-01', 'gbr', 10, 100, 50],
    ['007', '2026-02-22', 'gbr', 30, 300, 60],
  ),
});
const open = (address: string) => openPage(t, team, `/app/p/Proj1${address}`, team.cookies.get('owner')!);

t.test('a workbook has numbers below zero as numbers, and digits of a query as its text', async (t) => {
  const page = await open('/queries?from=2026-03-01&to=2026-03-07&compare=previous');
  await page.press('XLSX');
  const [heading = [], row = []] = await readSheet(Buffer.from(await page.saved[0]!.arrayBuffer()));
  const cells = Object.fromEntries(heading.map((name, at) => [name, row[at]]));
  t.strictSame([cells['query'], cells['clicks'], cells['change_clicks']], ['007', 10, -20]);
});

t.test('the draft of a shared link has no password', async (t) => {
  const page = await open('/settings');
  await page.press('Share');
  await page.type('Password', 'never-kept');
  const kept = Array.from({ length: page.storage.length }, (_, at) =>
    page.storage.getItem(page.storage.key(at)!),
  ).join();
  t.match(kept, /screens/);
  t.notMatch(kept, /never-kept/);
});

t.test('the file of a chart names the compared day beside each day', async (t) => {
  const page = await open('?from=2026-03-01&to=2026-03-02&compare=previous');
  await page.press('CSV');
  t.equal(
    await page.saved[0]!.text(),
    [
      'from,to,clicks,compared_from,compared_clicks',
      '2026-03-01,2026-03-01,10,2026-02-22,30',
      '2026-03-02,2026-03-02,,2026-02-23,',
      '',
    ].join('\r\n'),
  );
});

t.test('486 days can be chosen, and no day more', async (t) => {
  const page = await open('?from=2026-03-01&to=2026-03-10&compare=none');
  for (const [first, said] of [
    ['2024-11-10', false],
    ['2024-11-09', true],
  ] as const) {
    await page.type('First day', first);
    t.equal(page.outline().includes('At most 486 days: from Nov 10, 2024'), said, first);
  }
});
