// A range is refused for unknown days of its own or its comparison only, which the error names once each, in order.
import t from 'tap';
import { eachDay } from '../../server/domain/dates.ts';
import { facts, keyword, makeWorld, PROJECT, type Row, type World } from '../world.ts';

const DAYS = eachDay('2025-03-01', '2026-03-10');
const isWhole = (day: string): boolean => day >= '2025-06-01' && day <= '2025-06-30';
/** Ten clicks a day on mobiles in one country; of June an import knows only the property as a whole. */
const SITE = facts('date device', ...DAYS.map((day) => [day, isWhole(day) ? 'unknown' : 'mobile', 10, 100, 100]));
const COUNTRIES = facts(
  'date country',
  ...DAYS.filter((day) => !isWhole(day)).map((day) => [day, 'usa', 10, 100, 100]),
);
const world = await makeWorld(t, { site_daily: SITE, country_daily: COUNTRIES });

/** The totals of an answer, or the message that refuses it. */
async function told({ get }: Pick<World, 'get'>, path: string): Promise<unknown> {
  const { body } = await get(path);
  return body.error?.message ?? body.totals ?? body.projects[0].totals;
}

const MARCH = 'from=2026-03-01&to=2026-03-07';
const ASKED = {
  'a device': (days: string) => `/projects/Proj1/site?${days}&device=mobile`,
  'a device by day': (days: string) => `/projects/Proj1/site?${days}&device=mobile&daily=1`,
  'a country': (days: string) => `/projects/Proj1/site?${days}&country=usa`,
  'a device of all projects': (days: string) => `/portfolio?${days}&device=mobile`,
};

for (const [what, path] of Object.entries(ASKED)) {
  t.test(`${what} is known in two ranges with unknown days between them`, async (t) => {
    t.match(await told(world, path(`${MARCH}&compare=year`)), { clicks: 70, comparison: { clicks: 70 } });
    t.match(await told(world, path(`${MARCH}&compare=2025-05-25..2025-05-31`)), { comparison: { clicks: 70 } });
  });

  t.test(`${what} is not known in a range to compare with that has unknown days`, async (t) => {
    const { body } = await world.get(path(`${MARCH}&compare=2025-06-28..2025-07-04`));
    const { message } = body.error ?? body.projects[0].error;
    t.match(message, / 3 days of .* \(2025-06-28 to 2025-06-30\) are unknown/);
  });
}

/** The message about a question of the clicks of each device. */
async function refused(range: Row, compare: Row): Promise<{ message: string; nearest: readonly Row[] }> {
  const question = { range, compare, metrics: ['clicks'], dimensions: ['device'] };
  const { status, body } = await world.ask(`/query?q=${encodeURIComponent(JSON.stringify(question))}`);
  t.equal(status, 400);
  return { message: body.error.message, nearest: body.error.nearest };
}

t.test('a question names each unknown day of its ranges once, in order', async (t) => {
  const later = { from: '2025-06-29', to: '2025-07-05' };
  const { message } = await refused(later, { from: '2025-06-20', to: '2025-06-30' });
  t.match(message, 'of 11 days (2025-06-20 to 2025-06-30) is not known');
  t.match(message, 'range from 2025-07-01 to 2025-07-05');
});

t.test('days after the last synced one make no keyword known', async (t) => {
  const january = eachDay('2026-01-01', '2026-01-31');
  const site = eachDay('2026-01-01', '2026-03-12');
  const { ask } = await makeWorld(t, {
    projects: [{ ...PROJECT, synced_through: '2026-03-10' }],
    keywords: [keyword('Keyw1', 'boots')],
    site_daily: facts('date device', ...site.map((day) => [day, 'mobile', 10, 100, 100])),
    keyword_daily: facts('date keyword_id device', ...january.map((day) => [day, 'Keyw1', 'mobile', 1, 10, 10])),
  });
  for (const to of ['2026-03-10', '2026-03-12']) {
    const { status, body } = await ask(`/keywords?from=2026-03-01&to=${to}`);
    t.equal(status, 400, `to ${to}`);
    t.match(body.error?.message, 'of 10 days (2026-03-01 to 2026-03-10) are unknown, not zero');
  }
});
