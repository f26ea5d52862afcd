// A digest says what /site says of the week or month, once for each channel, when its days are final.
import { PNG } from 'pngjs';
import t, { type Test } from 'tap';
import { addDays } from '../../server/domain/dates.ts';
import { headersOf, partsOf, startMailServer } from '../fakes/smtp.ts';
import { facts, NOW, PROJECT, type Row } from '../world.ts';
import { digestsOf, makeScene } from './scene.ts';

const OTHER = { ...PROJECT, id: 'Proj2', domain: 'other.example' };
/** Four weeks of both projects; the first has a day without data. */
const SITE = ['Proj1', 'Proj2'].flatMap((project_id): Row[] =>
  facts(
    'date device',
    ...Array.from({ length: 28 }, (_, day) => addDays('2026-02-16', day))
      .filter((day) => day !== '2026-02-25' || project_id !== 'Proj1')
      .map((day, index) => [day, 'desktop', 100 + index * 3, 1000 + index, 5000]),
  ).map((row) => ({ ...row, project_id })),
);
/** Pages of the first project: those of both weeks, one that is new, and one that is gone. */
const PAGES = facts(
  'url date country',
  ...Array.from({ length: 28 }, (_, day) => addDays('2026-02-16', day)).flatMap((day) => {
    const isLater = day >= '2026-03-02';
    return [
      ['https://shop.example/same', day, 'gbr', 4, 40, 100],
      ['https://shop.example/up', day, 'gbr', isLater ? 9 : 2, 40, 100],
      ['https://shop.example/down', day, 'gbr', isLater ? 1 : 6, 40, 100],
      [isLater ? 'https://shop.example/new' : 'https://shop.example/gone', day, 'gbr', 3, 40, 100],
    ];
  }),
);
const HOUR = 3_600_000;

async function digestScene(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const projects = [PROJECT, OTHER];
  const scene = await makeScene(t, environment, projects, { site_daily: SITE, page_daily: PAGES });
  return { ...scene, ...digestsOf(scene) };
}

t.test('the numbers are those of /site for the week before, for each project', async (t) => {
  const { add, json, world, receiver, rows } = await digestScene(t);
  const { channel } = await add('webhook', '/hook');
  const words = ['channels', 'digest', channel.id, '--as-of', '2026-03-09'];
  const body = await json(...words, '--dry-run');
  const range = { from: '2026-03-02', to: '2026-03-08' };
  const comparison = { from: '2026-02-23', to: '2026-03-01' };
  t.match(body, { type: 'digest.weekly', data: { period: 'week', range, comparison } });
  t.equal(body['data'].link, 'https://reports.example.com/app');
  t.strictSame(body['data'].projects.map((one: Row) => (one['project'] as Row)['id']).toSorted(), ['Proj1', 'Proj2']);
  for (const project of body['data'].projects) {
    const { id } = project.project;
    const { totals } = (await world.get(`/projects/${id}/site?from=2026-03-02&to=2026-03-08&compare=previous`)).body;
    const { comparison: base, change, unsafe, ...now } = totals;
    t.strictSame(project.totals, now, id);
    t.strictSame(project.comparison, base);
    t.strictSame(project.change, change);
    t.strictSame(project.unsafe, unsafe);
    t.strictSame(project.provisional, []);
    const mover = (path: string, now: number, base: number) => ({
      page: `https://shop.example/${path}`,
      clicks: { now, base, difference: now - base },
    });
    const moved = {
      by: 'page',
      up: [mover('up', 63, 14), mover('new', 21, 0)],
      down: [mover('down', 7, 42), mover('gone', 0, 21)],
    };
    t.strictSame(project.movers, id === 'Proj1' ? moved : { by: null, up: [], down: [] }, 'none without a source');
    t.notOk('daily' in project, 'days are for the pictures of mail');
  }
  t.equal(receiver.received.length, 0, 'a dry run sends nothing');
  await json(...words);
  const { timestamp: _, ...sent } = JSON.parse(receiver.received[0]!.body);
  t.strictSame(sent, { type: body['type'], data: body['data'] });
  await json(...words);
  t.equal(receiver.received.length, 2, 'it can be sent again');
  t.match(await rows('channels', 'deliveries'), [{ event: 'digest.weekly', state: 'sent' }, { state: 'sent' }]);
});

t.test('a day that is not one, and a receiver that refuses', async (t) => {
  const { add, cli, receiver } = await digestScene(t);
  const { channel } = await add('webhook', '/hook');
  t.match(await cli('channels', 'digest', channel.id, '--as-of', '2026-02-30'), { code: 1, stderr: /--as-of must be/ });
  receiver.answers = [503];
  const words = ['channels', 'digest', channel.id, '--as-of', '2026-03-09'];
  t.match(await cli(...words), { code: 1, stderr: /not accepted: 503/ });
});

t.test('a mail has a picture of the clicks of each project, inside', async (t) => {
  const server = await startMailServer(t);
  const { json } = await digestScene(t, {
    ORDINATE_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    ORDINATE_MAIL_FROM: 'reports@example.com',
  });
  const words = ['channels', 'add', '--workspace', 'acme', '--kind', 'email', '--to', 'team@acme.example'];
  const { channel } = await json(...words);
  await json('channels', 'digest', channel.id, '--as-of', '2026-03-02');
  const [{ raw } = { raw: '' }] = server.mails;
  t.match(headersOf(raw).get('content-type'), /^multipart\/related; .*type="?multipart\/alternative/);
  t.match(headersOf(raw).get('subject'), /Acme: week of 2026-02-23 to 2026-03-01/);
  t.ok(raw.split('\r\n').every((line) => line.length <= 998));
  const [html] = partsOf(raw, 'text/html');
  const ids = [...html!.toString().matchAll(/src="cid:([^"]+)"/g)].map(([, id]) => id!);
  t.equal(ids.length, 2);
  t.notMatch(html!.toString().replaceAll(/src="cid:[^"]+"/g, ''), /src=|<script|<form/);
  for (const id of ids) t.match(raw, new RegExp(`content-id: <${id}>`, 'i'));
  const pictures = partsOf(raw, 'image/png').map((bytes) => PNG.sync.read(bytes));
  t.equal(pictures.length, 2);
  for (const [index, { width, height, data }] of pictures.entries()) {
    t.strictSame([width, height], [560, 120]);
    // The first is the project with more clicks; the other one has a day without data.
    const blue = (x: number): boolean => data[4 * ((height - 2) * width + x) + 2] === 235;
    const bars = Array.from({ length: 7 }, (_, day) => blue(day * 80 + 40));
    t.strictSame(bars, [true, true, index === 0, true, true, true, true]);
  }
});

t.test('months of another length: differences without percentages, and why, as on the screens', async (t) => {
  const server = await startMailServer(t);
  const few = { ...PROJECT, id: 'Proj3', domain: 'few.example' };
  const days = (first: string, count: number, clicks: (day: number) => number, id = 'Proj1'): Row[] =>
    facts(
      'date device',
      ...Array.from({ length: count }, (_, day) => [addDays(first, day), 'desktop', clicks(day), 1000, 5000]),
    ).map((row) => ({ ...row, project_id: id }));
  const site_daily = [
    ...days('2026-01-01', 59, () => 100),
    ...days('2026-02-01', 28, () => 50, 'Proj2'),
    ...days('2026-01-01', 59, (day) => Number(day % 10 === 0), 'Proj3'),
  ];
  const environment = {
    ORDINATE_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    ORDINATE_MAIL_FROM: 'reports@example.com',
  };
  const { json } = await makeScene(t, environment, [PROJECT, OTHER, few], { site_daily });
  const words = ['channels', 'add', '--workspace', 'acme', '--kind', 'email', '--to', 'team@acme.example'];
  const { channel } = await json(...words);
  await json('channels', 'digest', channel.id, '--period', 'month', '--as-of', '2026-03-05');
  const [{ raw } = { raw: '' }] = server.mails;
  const text = partsOf(raw, 'text/plain')[0]!.toString().replaceAll(/\s+/g, ' ');
  const numbers = 'CTR 10.0%, position 6.0.';
  t.ok(text.includes(`shop.example: 2,800 clicks (-300), 28,000 impressions (-3,000), ${numbers} other.example`), text);
  t.match(
    text,
    /other\.example: 1,400 clicks, 28,000 impressions, CTR [\d.%]+, position 6\.0\. There is no data to compare with\./,
  );
  t.match(
    text,
    /few\.example: 2 clicks \(-2\), .*position 6\.0\. Differences instead of percentages, which would mislead: the compared days have fewer than 10 clicks or impressions\./,
  );
  t.match(
    text,
    /Changes are against 2026-01-01 to 2026-01-31: 28 days against 31, so clicks and impressions have no percentages\./,
  );
  await json('channels', 'digest', channel.id, '--as-of', '2026-02-23');
  const week = partsOf(server.mails[1]!.raw, 'text/plain')[0]!.toString().replaceAll(/\s+/g, ' ');
  t.match(week, /shop\.example: 700 clicks \(0%\).*Changes are against 2026-02-09 to 2026-02-15\./);
});

t.test('a digest is written once, from 06:00 UTC, when its days are final', async (t) => {
  const { addNow, clock, due, write, send, receiver, rows } = await digestScene(t);
  const monday = Date.parse('2026-03-16T06:00:00Z');
  // Made on Sunday, while the week runs.
  clock.at = NOW;
  const channel = await addNow('/hook', 'digest.weekly');
  await addNow('/other', 'alert.opened');
  clock.at = monday - 1000;
  t.strictSame(await due(), []);
  clock.at = monday;
  t.strictSame(await due(), [], 'days of the week are provisional');
  clock.at = monday + 72 * HOUR - 1;
  t.strictSame(await due(), []);
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
  clock.at = monday + 7 * 24 * HOUR + 73 * HOUR;
  t.equal((await due()).length, 1, 'and the next one a week later');
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
  const rangesOf = async (asOf: string) => {
    const ranges = [];
    for (const period of ['week', 'month']) {
      const { data } = await json('channels', 'digest', channel.id, '--period', period, '--as-of', asOf, '--dry-run');
      ranges.push(...[data.range, data.comparison].map(({ from, to }) => `${String(from)}..${String(to)}`));
    }
    return ranges;
  };
  const december = ['2023-12-01..2023-12-31', '2023-11-01..2023-11-30'];
  const february = ['2026-02-01..2026-02-28', '2026-01-01..2026-01-31'];
  for (const [asOf, ...expected] of [
    ['2024-01-01', '2023-12-25..2023-12-31', '2023-12-18..2023-12-24', ...december],
    ['2024-01-31', '2024-01-22..2024-01-28', '2024-01-15..2024-01-21', ...december],
    [
      '2024-03-01',
      '2024-02-19..2024-02-25',
      '2024-02-12..2024-02-18',
      '2024-02-01..2024-02-29',
      '2024-01-01..2024-01-31',
    ],
    ['2026-03-08', '2026-02-23..2026-03-01', '2026-02-16..2026-02-22', ...february],
    ['2026-03-09', '2026-03-02..2026-03-08', '2026-02-23..2026-03-01', ...february],
    ['2026-03-31', '2026-03-23..2026-03-29', '2026-03-16..2026-03-22', ...february],
  ] as const)
    t.strictSame(await rangesOf(asOf), expected, asOf);
});
