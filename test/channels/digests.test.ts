// A digest says what /site says of the week or month, once for each channel, when its days are final.
// Its words: test/fixtures/messages.txt.
import { PNG } from 'pngjs';
import t, { type Test } from 'tap';
import { addDays, eachDay } from '../../server/domain/dates.ts';
import { CHANGE, EFFECT_WORLD, LAST, note, page, uuid } from '../effects/world.ts';
import { headersOf, partsOf } from '../fakes/smtp.ts';
import { facts, NOW, ofProject, PROJECT, type Row } from '../world.ts';
import { digestsOf, makeMailScene, makeScene } from './scene.ts';

const OTHER = { ...PROJECT, id: 'Proj2', domain: 'other.example' };
const DAYS = eachDay('2026-02-16', '2026-03-15');
/** Four weeks of both projects; the first has a day without data. */
const ALL = facts('date device', ...DAYS.map((day, at) => [day, 'desktop', 100 + at * 3, 1000 + at, 5000]));
const SITE = [...ALL.filter(({ date }) => date !== '2026-02-25'), ...ofProject('Proj2', ALL)];
/** Pages of the first project: those of both weeks, one that is new, and one that is gone. */
const PAGES = facts(
  'url date country',
  ...DAYS.flatMap((day) => {
    const isLater = day >= '2026-03-02';
    return [
      ['same', 4],
      ['up', isLater ? 9 : 2],
      ['down', isLater ? 1 : 6],
      [isLater ? 'new' : 'gone', 3],
    ].map(([path, clicks]) => [`https://shop.example/${path}`, day, 'gbr', clicks, 40, 100]);
  }),
);
const HOUR = 3_600_000;
const WEEK = 7 * 24 * HOUR;

async function digestScene(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const scene = await makeScene(t, environment, [PROJECT, OTHER], { site_daily: SITE, page_daily: PAGES });
  return { ...scene, ...digestsOf(scene) };
}

t.test('the numbers are those of /site for the week before, for each project', async (t) => {
  const { add, json, cli, world, receiver, rows } = await digestScene(t);
  const { channel } = await add('webhook', '/hook');
  const words = ['channels', 'digest', channel.id, '--as-of', '2026-03-09'];
  const body = await json(...words, '--dry-run');
  const range = { from: '2026-03-02', to: '2026-03-08' };
  const comparison = { from: '2026-02-23', to: '2026-03-01' };
  t.match(body, { type: 'digest.weekly', data: { period: 'week', range, comparison } });
  t.equal(body['data'].link, 'https://reports.example.com/app');
  const mover = (path: string, now: number, base: number) => ({
    page: `https://shop.example/${path}`,
    clicks: { now, base, difference: now - base },
  });
  const moved = {
    by: 'page',
    up: [mover('up', 63, 14), mover('new', 21, 0)],
    down: [mover('down', 7, 42), mover('gone', 0, 21)],
  };
  const projects = new Map<string, Row>(body['data'].projects.map((one: { project: Row }) => [one.project['id'], one]));
  t.strictSame([...projects.keys()].toSorted(), ['Proj1', 'Proj2']);
  for (const [id, project] of projects) {
    const { totals } = (await world.get(`/projects/${id}/site?from=2026-03-02&to=2026-03-08&compare=previous`)).body;
    const { comparison: base, change, unsafe, ...now } = totals;
    const movers = id === 'Proj1' ? moved : { by: null, up: [], down: [] };
    const { project: _, ...found } = project;
    const rest = { movers, verdicts: [], alerts: [], provisional: [] };
    t.strictSame(found, { totals: now, comparison: base, change, unsafe, ...rest }, 'without the days of pictures');
  }
  t.equal(receiver.received.length, 0, 'a dry run sends nothing');
  await json(...words);
  const { timestamp: _, ...sent } = JSON.parse(receiver.received[0]!.body);
  t.strictSame(sent, { type: body['type'], data: body['data'] });
  await json(...words);
  t.equal(receiver.received.length, 2, 'it can be sent again');
  t.match(await rows('channels', 'deliveries'), [{ event: 'digest.weekly', state: 'sent' }, { state: 'sent' }]);
  receiver.answers = [503];
  t.match(await cli(...words), { code: 1, stderr: /not accepted: 503/ });
  t.match(await cli(...words.with(-1, '2026-02-30')), { code: 1, stderr: /--as-of must be/ });
});

async function mailScene(t: Test, projects: readonly Row[], tables: Readonly<Record<string, readonly Row[]>>) {
  const scene = await makeMailScene(t, {}, projects, tables);
  /** Sends a digest; the mail, and its text in one line. */
  const digest = async (...options: string[]): Promise<{ raw: string; text: string }> => {
    await scene.json('channels', 'digest', scene.channel['id'], ...options);
    const { raw } = scene.server.mails.at(-1)!;
    return { raw, text: partsOf(raw, 'text/plain')[0]!.toString().replaceAll(/\s+/g, ' ') };
  };
  return { ...scene, digest };
}

t.test('a mail has a picture of the clicks of each project, inside', async (t) => {
  const { digest } = await mailScene(t, [PROJECT, OTHER], { site_daily: SITE });
  const { raw } = await digest('--as-of', '2026-03-02');
  t.match(headersOf(raw).get('content-type'), /^multipart\/related; .*type="?multipart\/alternative/);
  t.match(headersOf(raw).get('subject'), /Acme: week of 2026-02-23 to 2026-03-01/);
  t.ok(raw.split('\r\n').every((line) => line.length <= 998));
  const html = partsOf(raw, 'text/html')[0]!.toString();
  const ids = [...html.matchAll(/src="cid:([^"]+)"/g)].map(([, id]) => id!);
  t.notMatch(html.replaceAll(/src="cid:[^"]+"/g, ''), /src=|<script|<form/);
  for (const id of ids) t.match(raw, new RegExp(`content-id: <${id}>`, 'i'));
  const pictures = partsOf(raw, 'image/png').map((bytes) => PNG.sync.read(bytes));
  t.strictSame([ids.length, pictures.length], [2, 2]);
  for (const [index, { width, height, data }] of pictures.entries()) {
    t.strictSame([width, height], [560, 120]);
    // The first is the project with more clicks; the other one has a day without data.
    const blue = (x: number): boolean => data[4 * ((height - 2) * width + x) + 2] === 235;
    const bars = Array.from({ length: 7 }, (_, day) => blue(day * 80 + 40));
    t.strictSame(bars, [true, true, index === 0, true, true, true, true]);
  }
});

t.test('months of another length: differences without percentages, and why, as on the screens', async (t) => {
  const few = { ...PROJECT, id: 'Proj3', domain: 'few.example' };
  const days = (first: string, count: number, clicks: (day: number) => number): Row[] =>
    facts(
      'date device',
      ...Array.from({ length: count }, (_, day) => [addDays(first, day), 'desktop', clicks(day), 1000, 5000]),
    );
  const site_daily = [
    ...days('2026-01-01', 59, () => 100),
    ...ofProject(
      'Proj2',
      days('2026-02-01', 28, () => 50),
    ),
    ...ofProject(
      'Proj3',
      days('2026-01-01', 59, (day) => Number(day % 10 === 0)),
    ),
  ];
  const { digest } = await mailScene(t, [PROJECT, OTHER, few], { site_daily });
  const month = await digest('--period', 'month', '--as-of', '2026-03-05');
  const told = [
    'Acme: month of 2026-02-01 to 2026-02-28',
    'shop.example: 2,800 clicks (-300), 28,000 impressions (-3,000), CTR 10.0%, position 6.0.',
    'other.example: 1,400 clicks, 28,000 impressions, CTR 5.0%, position 6.0. There is no data to compare with.',
    'few.example: 2 clicks (-2), 28,000 impressions (-3,000), CTR 0.0%, position 6.0. Differences instead of percentages, which would mislead: the compared days have fewer than 10 clicks or impressions.',
    'Changes are against 2026-01-01 to 2026-01-31: 28 days against 31, so clicks and impressions have no percentages.',
  ];
  t.ok(month.text.startsWith(`${told.join(' ')} Acme`), month.text);
  const week = await digest('--as-of', '2026-02-23');
  t.match(week.text, /shop\.example: 700 clicks \(0%\).*Changes are against 2026-02-09 to 2026-02-15\. Acme/);
});

t.test('a digest is written once, from 06:00 UTC, when its days are final', async (t) => {
  const { addNow, clock, due, write, send, receiver, rows } = await digestScene(t);
  const monday = Date.parse('2026-03-16T06:00:00Z');
  // Made on Sunday, while the week runs.
  clock.at = NOW;
  const channel = await addNow('/hook', 'digest.weekly');
  await addNow('/other', 'alert.opened');
  // Days of the week are provisional until then.
  for (const at of [monday - 1000, monday, monday + 72 * HOUR - 1]) {
    clock.at = at;
    t.strictSame(await due(), []);
  }
  clock.at = monday + 72 * HOUR;
  t.strictSame(await write(), [true]);
  t.strictSame(await due(), []);
  t.strictSame(await send(), { sent: 1, failed: 0 });
  t.match(await rows('channels', 'deliveries'), [
    { channel: channel.id, event: 'digest.weekly', subject: '2026-03-09..2026-03-15', state: 'sent' },
  ]);
  const { data } = JSON.parse(receiver.received.at(-1)!.body);
  t.match(data, { range: { from: '2026-03-09', to: '2026-03-15' } });
  t.ok(data.projects[0].provisional.includes('2026-03-15'), 'named, as it waited long enough');
  clock.at = monday + WEEK + 73 * HOUR;
  t.equal((await due()).length, 1, 'and the next one a week later');
});

t.test('a digest waits for the last of its projects, and a channel that was made later gets none', async (t) => {
  const monday = Date.parse('2026-03-16T06:00:00Z');
  for (const through of ['2026-03-14', '2026-03-15']) {
    const [first, second] = ['2026-03-15', through].map((day) => ({ synced_through: day, provisional_after: day }));
    const scene = await makeScene(
      t,
      {},
      [
        { ...PROJECT, ...first },
        { ...OTHER, ...second },
      ],
      { site_daily: SITE },
    );
    const { clock, addNow, due } = { ...scene, ...digestsOf(scene) };
    const found: string[][] = [];
    const ask = async (): Promise<void> => void found.push((await due()).map(({ channel }) => channel.id));
    clock.at = NOW;
    const { id } = await addNow('/hook', 'digest.weekly');
    clock.at = monday;
    await ask();
    clock.at = monday + HOUR;
    await addNow('/later', 'digest.weekly');
    clock.at = monday + 72 * HOUR;
    await ask();
    t.strictSame(found, [through === '2026-03-15' ? [id] : [], [id]], through);
  }
});

t.test('what had ended before a channel was made is not sent; nor is a digest that is a week late', async (t) => {
  const { addNow, clock, due } = await digestScene(t);
  clock.at = NOW;
  await addNow('/hook', 'digest.monthly');
  t.strictSame(await due(), [], 'February ended before');
  clock.at = Date.parse('2026-04-04T06:00:00Z');
  t.match(await due(), [{ period: 'month', digest: { subject: '2026-03-01..2026-03-31' } }]);
  clock.at = Date.parse('2026-04-08T06:00:00Z');
  t.strictSame(await due(), []);
});

t.test('weeks begin on Monday, months on their first day, and both end before the day', async (t) => {
  const { add, json } = await makeScene(t);
  const { channel } = await add('webhook', '/hook');
  const found: Record<string, string[]> = {};
  for (const asOf of ['2024-01-01', '2024-01-31', '2024-03-01', '2026-03-08', '2026-03-09', '2026-03-31']) {
    found[asOf] = [];
    for (const period of ['week', 'month']) {
      const { data } = await json('channels', 'digest', channel.id, '--period', period, '--as-of', asOf, '--dry-run');
      for (const { from, to } of [data.range, data.comparison]) found[asOf].push(`${from}..${to}`);
    }
  }
  const december = ['2023-12-01..2023-12-31', '2023-11-01..2023-11-30'];
  const january = ['2024-02-01..2024-02-29', '2024-01-01..2024-01-31'];
  const february = ['2026-02-01..2026-02-28', '2026-01-01..2026-01-31'];
  t.strictSame(found, {
    '2024-01-01': ['2023-12-25..2023-12-31', '2023-12-18..2023-12-24', ...december],
    '2024-01-31': ['2024-01-22..2024-01-28', '2024-01-15..2024-01-21', ...december],
    '2024-03-01': ['2024-02-19..2024-02-25', '2024-02-12..2024-02-18', ...january],
    '2026-03-08': ['2026-02-23..2026-03-01', '2026-02-16..2026-02-22', ...february],
    '2026-03-09': ['2026-03-02..2026-03-08', '2026-02-23..2026-03-01', ...february],
    '2026-03-31': ['2026-03-23..2026-03-29', '2026-03-16..2026-03-22', ...february],
  });
});

const [project, ...others] = EFFECT_WORLD['projects']!;

t.test('each verdict is in one digest, the first after its days are final', async (t) => {
  // A Monday; the days of the changes of 1 December end the day before.
  const monday = Date.parse('2026-01-05T06:00:00Z');
  const projects = [{ ...project, provisional_after: '2026-01-03' }, ...others];
  const scene = await makeScene(t, {}, projects, { ...EFFECT_WORLD, projects });
  const { addNow, write } = digestsOf(scene);
  const { clock, receiver, world, send } = scene;
  type Verdict = { note: { id: string } };
  /** The verdicts that are sent at a time, by receiver. */
  const sentAt = async (at: number): Promise<Record<string, Verdict[]>> => {
    clock.at = at;
    await write();
    await send();
    const all = receiver.received.splice(0).map(({ path, body }): [string, Verdict[]] => {
      const { data } = JSON.parse(body) as { data: { projects: { verdicts: Verdict[] }[] } };
      return [path, data.projects.flatMap(({ verdicts }) => verdicts)];
    });
    return Object.fromEntries(all);
  };
  const idsAt = async (at: number): Promise<Record<string, string[]>> =>
    Object.fromEntries(
      Object.entries(await sentAt(at)).map(([path, all]) => [path, all.map(({ note: { id } }) => id).toSorted()]),
    );
  clock.at = monday - 24 * HOUR;
  await addNow('/hook', 'digest.weekly');
  t.strictSame(await idsAt(monday + 72 * HOUR), { '/hook': [] }, 'the last of their days may still change');

  await world.load({ projects: [{ ...project, provisional_after: LAST }] });
  const verdicts = (await sentAt(monday + WEEK))['/hook']!;
  const ids = verdicts.map(({ note: { id } }) => id).toSorted();
  t.strictSame(ids, [uuid(1), uuid(3), uuid(5)], 'without what ended before the channel was added, and whole projects');
  const { body } = await world.ask(`/effects?note=${uuid(1)}`);
  t.strictSame(
    verdicts.find((one) => one.note.id === uuid(1)),
    {
      note: { id: uuid(1), date: CHANGE, text: 'Note 1', page: page(0), keyword: null, group: null },
      ...{ verdict: 'more', reasons: [], text: body.text },
      link: `https://reports.example.com/app/p/Proj1/effect?note=${uuid(1)}`,
    },
  );

  const late = note(9, 'page', '2025-11-20', { page: page(9), created_at: '2026-01-14T09:00:00Z' });
  const early = note(10, 'page', '2025-10-20', { page: page(8), created_at: '2025-10-20T09:00:00Z' });
  await world.load({ notes: [late, early] });
  // A second channel has digests of its own.
  clock.at = monday + WEEK + HOUR;
  await addNow('/other', 'digest.weekly');
  const both = [uuid(4), uuid(9)];
  const what = 'also a change that was noted after its days had ended';
  t.strictSame(await idsAt(monday + 2 * WEEK), { '/hook': both, '/other': both }, what);
  t.strictSame(await idsAt(monday + 3 * WEEK), { '/hook': [], '/other': [] });
});

t.test('verdicts in words, in a mail and by command', async (t) => {
  const notes = [note(1, 'page', CHANGE, { page: page(0), text: `<b>@here</b> ${'x'.repeat(200)}` })];
  const { digest, channel, json, cli } = await mailScene(t, EFFECT_WORLD['projects']!, { ...EFFECT_WORLD, notes });
  const said =
    /shop\.example, change of 2025-12-01 to https:\/\/shop\.example\/0 \(<b>@here<\/b> x{87}…\): \d+% more clicks than expected \(95% interval: \+\d+% to \+\d+%\): [\d,]+ against [\d,]+\./;
  const words = ['channels', 'digest', channel.id, '--as-of'];
  t.match((await cli(...words, '2026-01-05', '--dry-run')).stdout, said);
  const { raw, text } = await digest('--as-of', '2026-01-05');
  t.match(text, said);
  const html = partsOf(raw, 'text/html')[0]!.toString();
  t.match(html, /&lt;b&gt;@here/);
  t.notMatch(html, /<b>/);
  t.equal([...html.matchAll(/src="cid:/g)].length, 2, 'pictures stay with their projects');
  const { data } = await json(...words, '2026-01-12', '--dry-run');
  const verdicts = data.projects.map((one: Row) => one['verdicts']);
  t.strictSame(verdicts, [[], []], 'by command, those of the period');
});
