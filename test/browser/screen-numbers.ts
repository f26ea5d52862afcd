// Every number of keywords, breakdowns, explanations, alerts, projects and reports is that of the API, in each state.
import { states } from './extent.ts';
import { API, check, compareDays, compareList, daysOf, ROOT } from './numbers/checking.ts';
import * as expected from './numbers/expected.ts';
import { type Answer, rowOf, share, signed } from './numbers/expected.ts';

/** As the answer has it, which is rounded already. */
const fine = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 2 });

const USUAL = 'to=final&compare=previous';

await check('the rank tracker: latest and best positions, bands, days and groups', async (on) => {
  for (const [address, asked] of states<readonly [string, string]>(
    ['', USUAL],
    ['?group=Grp02', `${USUAL}&group=Grp02`],
    ['?compare=none&period=7d', 'period=7d&to=final'],
    ['?device=mobile&filter=query:contains:boots', `${USUAL}&device=mobile&filter=query:contains:boots`],
  )) {
    await on.open(`${ROOT}/keywords${address}`);
    const { keywords } = await on.ask(`${API}/keywords?${asked}&daily=1&sort=-clicks&limit=50`);
    on.compare(
      'latest and best',
      (await on.rows('.keywords-list .table-card', { name: '', cells: 'td.extra' })).map(
        ([, ...positions]) => positions,
      ),
      keywords.map(({ daily }: Answer) => {
        const ranked = (daily as Answer[]).filter(({ position }) => position !== null);
        const best = ranked.toSorted((a, b) => a.position - b.position)[0];
        return [expected.shownOf('position', ranked.at(-1)), expected.shownOf('position', best)];
      }),
    );
    const { now, before, distribution, groups } = await on.ask(`${API}/tracker?${asked}`);
    on.compare('bands', [await on.texts('.bucket strong')], [now.map(expected.count)]);
    const more = now.map((count: number, band: number) => count - (before?.[band] ?? count));
    const text = (size: number): string => `${Math.abs(size)} ${size > 0 ? 'more' : 'fewer'}`;
    on.compare(
      'change of bands',
      [await on.texts('.bucket > .muted')],
      [more.map((size: number) => (before === null ? '' : size === 0 ? 'as before' : text(size)))],
    );
    on.compare(
      'days',
      await on.rows('.distribution', { name: '', cells: 'td' }),
      distribution.map((counts: number[]) => counts.map(String)),
    );
    on.compare(
      'groups',
      [await on.texts('.group-line > .muted')],
      [groups.map(({ keywords: count }: Answer) => String(count))],
    );
  }
});

await check('a keyword, a query and a page with what ranked for them', async (on) => {
  const { keywords, range } = await on.ask(`${API}/keywords?${USUAL}&daily=1&limit=5000`);
  for (const { id, ...keyword } of states<Answer>(...keywords.slice(0, 3))) {
    await on.open(`${ROOT}/keywords/${id}?metric=position`);
    await compareDays(
      on,
      { totals: { ...keyword, ...keyword.metrics }, daily: daysOf(range, keyword.daily) },
      'position',
    );
    const { pages } = await on.ask(`${API}/keywords/${id}?to=final`);
    on.compare(
      'pages',
      await on.rows('section[aria-label="Pages that ranked"]'),
      pages.map((row: Answer) => rowOf(row.url.replace('https://shop.example', ''), row)),
    );
  }
  for (const [kind, of, label, list] of [
    ['queries', 'query', 'Pages', 'pages-of-query'],
    ['pages', 'page', 'Queries', 'queries-of-page'],
  ] as const) {
    // Without a provider, only tracked queries have pages.
    const rows = kind === 'queries' ? keywords : (await on.ask(`${API}/pages?to=final&limit=3`)).pages;
    for (const row of states<Answer>(...rows.slice(0, 3))) {
      const text = encodeURIComponent(row.query ?? row.url);
      await on.open(`${ROOT}/${kind}/one?of=${text}`);
      const days = await on.ask(`${API}/days-of-${of}?${of}=${text}&${USUAL}`);
      const beside = daysOf(days.range, days.comparison);
      const none = { clicks: null, impressions: null, ctr: null, position: null };
      const daily = daysOf(days.range, days.daily).map((day: object | undefined, at) => {
        const comparison = beside[at] as object | undefined;
        return { ...none, ...day, comparison };
      });
      await compareDays(on, { totals: days.totals, daily });
      await compareList(on, label, await on.ask(`${API}/${list}?${of}=${text}&${USUAL}&limit=50`));
    }
  }
});

await check('breakdowns', async (on) => {
  for (const [address, asked] of states<readonly [string, string]>(
    ['', USUAL],
    ['?compare=none&countries=all', 'to=final'],
    ['?period=7d&newest=yes', 'period=7d&compare=previous'],
  )) {
    await on.open(`${ROOT}/breakdowns${address}`);
    const { devices, countries, appearances, brand } = await on.ask(`${API}/breakdowns?${asked}`);
    const shownRows = async (title: string): Promise<string[][]> =>
      (await on.rows(`section[aria-label="${title}"]`, { name: '', cells: 'td' })).map(
        ([clicks, change, ...others]) => [[clicks, change].filter(Boolean).join(' '), ...others],
      );
    for (const [title, rows] of [
      ['Devices', devices],
      ['Countries', address.includes('all') ? countries : countries.slice(0, 12)],
      ['Search appearances', appearances],
    ] as const) {
      on.compare(
        title,
        await shownRows(title),
        rows.map((row: Answer) => [
          expected.cellOf('clicks', row),
          ...(['impressions', 'ctr', 'position'] as const).map((metric) => expected.shownOf(metric, row)),
        ]),
      );
    }
    const parts = [brand.brand, brand.nonBrand, brand.anonymous].map(
      ({ clicks }: Answer) => Math.max(0, clicks) as number,
    );
    const all = Math.max(
      1,
      parts.reduce((sum, clicks) => sum + clicks, 0),
    );
    on.compare('brand', [await on.texts('.split-parts strong')], [parts.map((clicks) => share(clicks / all))]);
  }
});

await check('explanations by each kind of row', async (on) => {
  for (const by of states('page', 'query', 'keyword', 'device', 'country', 'brand')) {
    await on.open(`${ROOT}/explain?by=${by}`);
    const { parts, change, rows, rest } = await on.ask(`${API}/explain?${USUAL}&by=${by}&limit=20`);
    const names = ['impressions', 'position', 'ctr', 'clicks', 'gained', 'lost', 'notAttributed'];
    const known = names.filter((name) => parts[name] !== undefined && parts[name] !== null);
    on.compare(
      'parts',
      await on.rows('.waterfall', { name: '' }),
      [...known.map((name) => parts[name] as number), change.clicks.difference as number].map((size) => [signed(size)]),
    );
    const inRows = known.filter((name) => name !== 'notAttributed');
    const clicks = ({ base, now, difference }: Answer): string[] => [
      `${expected.count(base)} → ${expected.count(now)}`,
      signed(difference),
    ];
    const place = (position: number | null): string => expected.shownOf('position', { position });
    const cellsOf = (row: Answer): string[] => [
      ...clicks(row.clicks),
      ...inRows.map((name) => signed(row.parts[name] ?? 0)),
    ];
    const table = await on.rows('section[aria-label="Rows that changed most"]', { name: '' });
    on.compare(
      'rows',
      table.slice(0, rows.length),
      rows.map((row: Answer) => [...cellsOf(row), `${place(row.position.base)} → ${place(row.position.now)}`]),
    );
    const ends = table.slice(rows.length);
    on.compare('other rows', ends.slice(0, -1), rest.rows > 0 ? [cellsOf(rest)] : []);
    const listed = rows.reduce(
      (sum: number, row: Answer) => sum + Number(row.clicks.difference),
      rest.clicks.difference,
    );
    on.compare('not in any row', ends.slice(-1), [[signed(change.clicks.difference - listed)]]);
  }
});

await check('all projects and their sum', async (on) => {
  for (const [address, asked] of states<readonly [string, string]>(
    ['', `${USUAL}&sort=-clicks`],
    ['?period=7d&device=mobile&sort=position', `period=7d&to=final&compare=previous&device=mobile&sort=position`],
    ['?compare=none&newest=yes', 'sort=-clicks'],
    ['?filter=clicks:lte:2000', `${USUAL}&sort=-clicks&filter=clicks:lte:2000`],
  )) {
    await on.open(address);
    const { projects } = await on.ask(`/portfolio?${asked}`);
    const totals = projects.length > 1 ? [(await on.ask(`/portfolio-totals?${asked}`)).totals] : [];
    on.compare(
      'projects',
      await on.rows('section[aria-label="Projects"]', { name: '' }),
      [...totals, ...projects].map((row: Answer) => rowOf('', 'totals' in row ? row.totals : row).slice(1)),
    );
  }
});

await check('alerts with their charts, the report of a month, and what is stored', async (on) => {
  const { alerts } = await on.ask(`${API}/alerts?status=open`);
  for (const { id } of alerts) {
    await on.open(`${ROOT}/alerts?alert=${id}`);
    on.compare(
      'count',
      [await on.texts('.list-head > span')],
      [[`${alerts.length} alerts, newest first`, await on.page.locator('.list-head > .downloads').innerText()]],
    );
    await on.page.getByRole('button', { name: 'Table' }).click();
    const { metric, points } = await on.ask(`${API}/alerts/${id}/chart`);
    on.compare(
      'chart',
      (await on.rows('.alert-body .chart-table', { name: '' })).map(([value]) => [value!]),
      points.map(({ value }: Answer) => [expected.shownOf(metric, { [metric]: value, impressions: 0 })]),
    );
  }

  await on.open(`${ROOT}/report`);
  const { searchParams } = new URL(on.page.url());
  const [from, to] = ['from', 'to'].map((name) => searchParams.get(name)!);
  const month = `from=${from}&to=${to}&compare=previous`;
  await compareDays(on, await on.ask(`${API}/site?${month}`));
  for (const [title, kind, change] of [
    ['Queries that won most clicks', 'queries', 'up'],
    ['Queries that lost most clicks', 'queries', 'down'],
    ['Pages that won most clicks', 'pages', 'up'],
    ['Pages that lost most clicks', 'pages', 'down'],
  ] as const) {
    const { [kind]: rows } = await on.ask(`${API}/movers?kind=${kind}&change=${change}&${month}&limit=10`);
    on.compare(
      title,
      await on.rows(`.table-card[aria-label="${title}"]`, { name: '' }),
      rows.map((row: Answer) => rowOf('', row).slice(1)),
    );
  }

  await on.open(`${ROOT}/data`);
  const { tables } = await on.ask(`${API}/data`);
  on.compare(
    'rows',
    [await on.texts('.calendar-row h2 .muted')],
    [tables.map(({ rows }: Answer) => `${expected.count(rows)} rows`)],
  );
  const { quality } = await on.ask(`${API}/site?quality=1`);
  on.compare('anonymous', [[(await on.texts('.facts dd'))[2]!]], [[fine.format(quality.anonymousClicksShare)]]);
});

await check('what a shared link shows', async (on) => {
  const address = await on.share('Proj1', ['overview', 'queries', 'pages', 'keywords', 'breakdowns']);
  await on.openAddress(address);
  await compareDays(on, await on.ask(`${API}/site?${USUAL}`));
  for (const [screen, label, asked] of [
    ['queries', 'Queries', `${API}/queries?to=final&limit=50&sort=-clicks`],
    ['pages', 'Pages', `${API}/pages?to=final&limit=50&sort=-clicks`],
    ['keywords', 'Keywords', `${API}/keywords?to=final&limit=50&sort=-clicks`],
  ] as const) {
    await on.openAddress(`${address}?screen=${screen}`);
    const answer = await on.ask(asked);
    on.compare(
      label,
      await on.rows(`section[aria-label="${label}"]`, { name: '' }),
      (answer[screen] as Answer[]).map((row) => rowOf('', row.metrics ?? row).slice(1)),
    );
  }
  await on.openAddress(`${address}?screen=breakdowns`);
  const { devices, countries, appearances } = await on.ask(`${API}/breakdowns?to=final`);
  for (const [label, rows] of [
    ['Devices', devices],
    ['Countries', countries],
    ['Appearances', appearances],
  ] as const) {
    on.compare(
      label,
      await on.rows(`section[aria-label="${label}"]`, { name: '' }),
      rows.map((row: Answer) => rowOf('', row).slice(1)),
    );
  }
});
