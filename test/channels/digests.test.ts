// A digest says what /site says of the week or month, once for each channel, when its days are final.
// Its words: test/fixtures/messages.txt, and test/fixtures/dialogues/digests.txt.
import { PNG } from 'pngjs';
import t, { type Test } from 'tap';
import { eachDay } from '../../server/domain/dates.ts';
import { CHANGE, EFFECT_WORLD, LAST, note, page, uuid } from '../effects/world.ts';
import { headersOf, partsOf } from '../fakes/smtp.ts';
import { facts, NOW, ofProject, PROJECT } from '../world.ts';
import { digestsOf, makeMailScene, makeScene } from './scene.ts';

const OTHER = { ...PROJECT, id: 'Proj2', domain: 'other.example' };
const DAYS = eachDay('2026-02-16', '2026-03-15');
/** Four weeks of both projects; the first has a day without data. */
const ALL = facts('date device', ...DAYS.map((day, at) => [day, 'desktop', 100 + at * 3, 1000 + at, 5000]));
const SITE = [...ALL.filter(({ date }) => date !== '2026-02-25'), ...ofProject('Proj2', ALL)];
const HOUR = 3_600_000;
const WEEK = 7 * 24 * HOUR;

async function digestScene(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const scene = await makeScene(t, environment, [PROJECT, OTHER], { site_daily: SITE });
  return { ...scene, ...digestsOf(scene) };
}

t.test('a mail has a picture of the clicks of each project, inside', async (t) => {
  const { json, channel, server } = await makeMailScene(t, {}, [PROJECT, OTHER], { site_daily: SITE });
  await json('channels', 'digest', channel['id'], '--as-of', '2026-03-02');
  const { raw } = server.mails[0]!;
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
