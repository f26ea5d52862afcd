// Every number that the page shows is that of the API: on all screens, in all states, and under random filters.
import { isWhole, states } from './extent.ts';
import { API, check, compareDays, compareList, day, ROOT } from './numbers/checking.ts';
import type { Comparing } from './numbers/comparing.ts';
import * as expected from './numbers/expected.ts';
import { type Answer, comparedDays, METRICS, type Metric } from './numbers/expected.ts';
import { Draw, WORDS } from './numbers/numbers-world.ts';

const A = `from=${day(95)}&to=${day(82)}`;
/** Other weekdays than those of the range that they are compared with, and the same ones. */
const [B, C] = [`${day(60)}..${day(54)}`, `${day(58)}..${day(52)}`];
/** Addresses, and what they ask the API for; `X` stands for the days to compare with. */
const STATES: readonly (readonly [address: string, asked: string, interval?: string])[] = [
  ['', 'to=final&compare=previous'],
  ['period=7d&metric=impressions', 'period=7d&to=final&compare=previous'],
  ['newest=yes&metric=position', 'compare=previous'],
  ['compare=none&metric=ctr', 'to=final'],
  ['compare=year', 'to=final&compare=year'],
  ['period=3m', 'period=3m&to=final&compare=X', 'week'],
  [A, `${A}&compare=X`],
  ...[B, C].map(
    (days) =>
      [
        `from=${day(9)}&to=${day(3)}&compare=custom&cfrom=${days.slice(0, 10)}&cto=${days.slice(12)}`,
        `from=${day(9)}&to=${day(3)}&compare=${days}`,
      ] as const,
  ),
  [`from=${day(4)}&to=${day(4)}`, `from=${day(4)}&to=${day(4)}&compare=X`],
];

/** What is asked, with the days to compare with. */
async function resolved(on: Comparing, asked: string): Promise<string> {
  if (!asked.endsWith('compare=X')) return asked;
  const { range } = await on.ask(`${API}/site?${asked.replace('&compare=X', '')}`);
  return asked.replace('X', comparedDays(range.from, range.to, 'previous'));
}

await check('the overview in each state of its controls', async (on) => {
  for (const [address, asked, interval] of states<(typeof STATES)[number]>(
    ...STATES,
    ['device=mobile&metric=ctr', 'to=final&compare=previous&device=mobile'],
    ['country=gbr&metric=position', 'to=final&compare=previous&country=gbr'],
  )) {
    const query = await resolved(on, asked);
    await on.open(`${ROOT}?${address}${interval === undefined ? '' : `&interval=${interval}`}`);
    const metric = METRICS.find((name) => address.includes(`metric=${name}`));
    await compareDays(
      on,
      await on.ask(`${API}/site?${query}${interval === undefined ? '' : `&interval=${interval}`}`),
      metric,
    );
    const range = query.replace(/&?(compare|device)=[^&]*/g, '');
    for (const kind of ['queries', 'pages']) {
      const { [kind]: top } = await on.ask(`${API}/${kind}?${range}&limit=7`);
      const list = on.page.getByLabel(`Top ${kind}`);
      on.compare(
        kind,
        (await list.locator('.bar-value').allInnerTexts()).map((text) => [text]),
        top.map((row: Answer) => [expected.shownOf('clicks', row)]),
      );
    }
  }
});

await check('further lines of a chart and their compared days', async (on) => {
  const asked = 'to=final&compare=previous';
  const site = await on.ask(`${API}/site?${asked}`);
  const { queries } = await on.ask(`${API}/queries?to=final&limit=1`);
  const query = queries[0].query as string;
  await on.open(`${ROOT}?also=impressions&lines=${encodeURIComponent(`brand\nquery:${query}\ngroup:Grp01`)}`);
  const lines = await Promise.all(
    ['of=brand', `of=query&text=${encodeURIComponent(query)}`, 'of=group&text=Grp01'].map((of) =>
      on.ask(`${API}/line?${of}&${asked}`),
    ),
  );
  const of = (days: Answer[], metric: Metric): string[] =>
    (site.daily as Answer[]).map(({ date }) =>
      expected.shownOf(metric, days.find((found) => found.date === date) as Answer),
    );
  await compareDays(on, site, 'clicks', [
    of(site.daily, 'impressions'),
    site.daily.map(({ comparison }: Answer) => expected.shownOf('impressions', comparison)),
    ...lines.flatMap(({ daily, comparison }) => [of(daily, 'clicks'), of(comparison, 'clicks')]),
  ]);
});

for (const [kind, label] of [
  ['queries', 'Queries'],
  ['pages', 'Pages'],
  ['keywords', 'Keywords'],
] as const) {
  const isKeywords = kind === 'keywords';
  const sort = isKeywords ? '&sort=-clicks' : '';

  await check(`${kind} in each state of their controls`, async (on) => {
    for (const [address, asked] of states<(typeof STATES)[number]>(
      ...STATES,
      ['sort=position', 'to=final&compare=previous&sort=position'],
      ['offset=50&sort=-impressions', 'to=final&compare=previous&sort=-impressions&offset=50'],
      isKeywords
        ? ['group=Grp01', 'to=final&compare=previous&group=Grp01']
        : ['country=gbr', 'to=final&compare=previous&country=gbr'],
      ['positions=11-20', 'to=final&compare=previous&filter=position:gt:10;position:lte:20'],
    )) {
      await on.open(`${ROOT}/${kind}?${address}`);
      const query = await resolved(on, asked);
      await compareList(
        on,
        label,
        await on.ask(`${API}/${kind}?${query}&limit=50${query.includes('sort=') ? '' : sort}`),
      );
    }
  });

  await check(`${kind} by change`, async (on) => {
    for (const change of states('up', 'down', 'new', 'gone')) {
      for (const by of states('clicks', 'position')) {
        await on.open(`${ROOT}/${kind}?change=${change}&sort=-${by}`);
        await compareList(
          on,
          label,
          await on.ask(`${API}/movers?kind=${kind}&change=${change}&by=${by}&to=final&compare=previous&limit=50`),
        );
      }
    }
  });
}

/** A condition on texts or numbers, with the text of the address. */
function condition(draw: Draw, field: string): string {
  if (draw.fraction() < 0.5) {
    const op = draw.pick(['contains', 'not_contains', 'ends_with', 'not_equals', 'matches', 'matches']);
    return `${field}:${op}:${op === 'matches' ? draw.pick(['o{2}', '^(red|acme)', '[0-9]$', 'boots|tent', '/re']) : draw.pick(WORDS)}`;
  }
  const metric = draw.pick(METRICS);
  const value = {
    clicks: draw.number(0, 400),
    impressions: draw.number(1, 3000),
    ctr: draw.number(1, 60) / 100,
    position: draw.number(2, 30),
  };
  return `${metric}:${draw.pick(['lte', 'gte', 'lt', 'gt'])}:${value[metric]}`;
}

async function checkFilters(on: Comparing): Promise<void> {
  const draw = new Draw(7);
  let rows = 0;
  for (let number = 0; number < 20; number++) {
    const [kind, label, field] = draw.pick([
      ['queries', 'Queries', 'query'],
      ['pages', 'Pages', 'url'],
      ['keywords', 'Keywords', 'query'],
    ] as const);
    const filter = Array.from({ length: 1 + (number % 3) }, () => condition(draw, field)).join(';');
    await on.open(`${ROOT}/${kind}?filter=${encodeURIComponent(filter)}`);
    const sort = kind === 'keywords' ? '&sort=-clicks' : '';
    const answer = await on.ask(
      `${API}/${kind}?to=final&compare=previous&limit=50&filter=${encodeURIComponent(filter)}${sort}`,
    );
    rows += answer.paging.total;
    await compareList(on, label, answer);
  }
  on.compare('rows', [[String(rows > 200)]], [['true']]);
}

if (isWhole) await check('20 random filters', checkFilters);
