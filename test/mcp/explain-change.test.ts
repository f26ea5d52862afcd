// An agent answers why clicks fell last month with two calls, and the numbers of its answer add up.
import t from 'tap';
import { eachDay } from '../../server/domain/dates.ts';
import { facts, makeWorld } from '../world.ts';
import { callTool, connectAgent } from './agent.ts';

const JANUARY = eachDay('2026-01-01', '2026-01-31');
const FEBRUARY = eachDay('2026-02-01', '2026-02-28');
const page = (name: string): string => `https://shop.example/${name}`;

// In February one page falls from position 2 to 5, one is gone, and one is new. Some clicks are on no page.
const world = await makeWorld(t, {
  site_daily: facts(
    'date device',
    ...JANUARY.map((date) => [date, 'mobile', 60, 1000, 3000]),
    ...FEBRUARY.map((date) => [date, 'mobile', 40, 900, 3600]),
  ),
  page_daily: facts(
    'date url country',
    ...JANUARY.flatMap((date) => [
      [date, page('shoes'), 'gbr', 30, 300, 300],
      [date, page('boots'), 'gbr', 20, 400, 800],
      [date, page('old'), 'gbr', 5, 100, 400],
    ]),
    ...FEBRUARY.flatMap((date) => [
      [date, page('shoes'), 'gbr', 12, 290, 1160],
      [date, page('boots'), 'gbr', 20, 400, 800],
      [date, page('new'), 'gbr', 3, 50, 200],
    ]),
  ),
});

const address = new URL('/mcp', await world.app.listen({ port: 0 }));
const client = await connectAgent(t, address, { authorization: `Bearer ${world.key}` });

interface Message {
  readonly says: string;
  readonly calls: readonly string[];
}

/** Answers the question as an agent would: it reads what the tools are for, and calls the two that say why and when. */
async function answerWhy(question: string, today: string): Promise<Message> {
  const { tools } = await client.listTools();
  const about = (words: RegExp): string => tools.find(({ description = '' }) => words.test(description))!.name;
  const [why, when] = [about(/question why/), about(/when that changed/)];
  const month = new Date(Date.parse(today)).getUTCMonth();
  const day = (monthIndex: number, of: number): string =>
    new Date(Date.UTC(2026, monthIndex, of)).toISOString().slice(0, 10);
  const ranges = {
    from: day(month - 1, 1),
    to: day(month, 0),
    compare: `${day(month - 2, 1)}..${day(month - 1, 0)}`,
  };
  const { body: explained } = await callTool(client, why, { project: 'Proj1', ...ranges, limit: 1 });
  const { body: days } = await callTool(client, when, { project: 'Proj1', ...ranges });
  const { change, parts, rows, rest, unsafe } = explained;
  const [first] = rows;
  return {
    calls: [why, when],
    says: [
      question,
      `The site had ${days.totals.clicks} clicks, ${days.totals.change.clicks.difference} against ${change.clicks.base}.`,
      `Positions ${parts.position}, impressions ${parts.impressions}, ctr ${parts.ctr}, gained ${parts.gained}, lost ${parts.lost}, of no page ${parts.notAttributed}.`,
      `Most: ${first.page} ${first.clicks.difference}, other pages ${rest.clicks.difference}.`,
      `Careful: ${unsafe.map(({ reason }: { reason: string }) => reason).join()}.`,
    ].join('\n'),
  };
}

t.test('why did clicks fall last month?', async (t) => {
  const { says, calls } = await answerWhy('Why did clicks fall last month?', '2026-03-15');
  t.strictSame(calls, ['explain_change', 'site_performance']);
  const [, site = '', parts = '', rows = '', careful = ''] = says.split('\n');
  const numbers = (line: string): number[] => [...line.matchAll(/ (-?\d+)\b/g)].map(([, number]) => Number(number));
  const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0);
  t.strictSame(numbers(site), [1120, -740, 1860]);
  t.equal(sum(numbers(parts)), -740, parts);
  const ofNoPage = numbers(parts).at(-1)!;
  t.equal(sum(numbers(rows)) + ofNoPage, -740, rows);
  t.match(rows, /shoes -594,/);
  const [position = 0, ...others] = numbers(parts);
  t.ok(
    others.every((part) => part > position),
    'the position is the largest reason',
  );
  t.equal(careful, 'Careful: weekday_mix.');
});

t.test('what it says beside: counts, quality and events, as all tools', async (t) => {
  const asked = { project: 'Proj1', from: '2026-02-01', to: '2026-02-28', limit: 2 };
  const { body } = await callTool(client, 'explain_change', asked);
  t.match(body, { total: 4, returned: 2, quality: { daysStored: 28 }, rest: { rows: 2 }, by: 'page' });
  t.ok(body.events.length > 0);
  const wrong = await callTool(client, 'explain_change', { ...asked, by: 'device', country: 'gbr' });
  t.match(wrong, { isError: true, body: { error: { code: 'invalid_request', message: /^country / } } });
});
