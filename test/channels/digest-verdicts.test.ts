// A digest lists the verdicts on noted changes that became final since the one before: each once, in words and as data.
import t from 'tap';
import { CHANGE, EFFECT_WORLD, LAST, note, page, uuid } from '../effects/world.ts';
import { partsOf, startMailServer } from '../fakes/smtp.ts';
import type { Row } from '../world.ts';
import { digestsOf, makeScene } from './scene.ts';

const HOUR = 3_600_000;
const [project, ...others] = EFFECT_WORLD['projects']!;
/** A Monday; the days of the changes of 1 December end the day before. */
const MONDAY = Date.parse('2026-01-05T06:00:00Z');
const WEEK = 7 * 24 * HOUR;

t.test('each verdict is in one digest, the first after its days are final', async (t) => {
  const projects = [{ ...project, provisional_after: '2026-01-03' }, ...others];
  const scene = await makeScene(t, {}, projects, { ...EFFECT_WORLD, projects });
  const { addNow, write } = digestsOf(scene);
  const { clock, receiver, world, send } = scene;
  const numbers = (at: number): number[] => {
    const { data } = JSON.parse(receiver.received.at(at)!.body) as { data: { projects: Row[] } };
    return data.projects.flatMap(({ verdicts }) =>
      (verdicts as Row[]).map((one) => Number.parseInt((one['note'] as { id: string }).id, 10)),
    );
  };
  clock.at = MONDAY - 24 * HOUR;
  await addNow('/hook', 'digest.weekly');
  clock.at = MONDAY + 72 * HOUR;
  t.strictSame(await write(), [true]);
  await send();
  t.strictSame(numbers(-1), [], 'the last of their days may still change');

  await world.load({ projects: [{ ...project, provisional_after: LAST }] });
  clock.at = MONDAY + WEEK;
  t.strictSame(await write(), [true]);
  await send();
  t.strictSame(
    numbers(-1).toSorted((a, b) => a - b),
    [1, 3, 5],
    'what ended before the channel was added, and whole projects, are left out',
  );
  const { data } = JSON.parse(receiver.received.at(-1)!.body);
  const { verdicts } = data.projects.find((one: Row) => (one['project'] as Row)['id'] === 'Proj1');
  const { body } = await world.ask(`/effects?note=${uuid(1)}`);
  t.strictSame(
    verdicts.find((one: { note: Row }) => one.note['id'] === uuid(1)),
    {
      note: { id: uuid(1), date: CHANGE, text: 'Note 1', page: page(0), keyword: null, group: null },
      ...{ verdict: 'more', reasons: [], text: body.text },
      link: `https://reports.example.com/app/p/Proj1/effect?note=${uuid(1)}`,
    },
  );

  const late = note(9, 'page', '2025-11-20', { page: page(9), created_at: '2026-01-14T09:00:00Z' });
  await world.load({
    notes: [late, note(10, 'page', '2025-10-20', { page: page(8), created_at: '2025-10-20T09:00:00Z' })],
  });
  // A second channel has digests of its own.
  clock.at = MONDAY + WEEK + HOUR;
  await addNow('/other', 'digest.weekly');
  clock.at = MONDAY + 2 * WEEK;
  t.strictSame(await write(), [true, true]);
  await send();
  const [one, other] = receiver.received.slice(-2).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  for (const { body } of [one!, other!]) {
    const { data } = JSON.parse(body) as { data: { projects: { verdicts: { note: { id: string } }[] }[] } };
    const ids = data.projects.flatMap(({ verdicts }) => verdicts.map(({ note }) => note.id));
    t.strictSame(ids.toSorted(), [uuid(4), uuid(9)], 'also a change that was noted after its days had ended');
  }
  clock.at = MONDAY + 3 * WEEK;
  t.strictSame(await write(), [true, true]);
  await send();
  t.strictSame([numbers(-1), numbers(-2)], [[], []]);
});

t.test('in words, in a mail and by command', async (t) => {
  const server = await startMailServer(t);
  const { json, cli } = await makeScene(
    t,
    { ORDINATE_SMTP_URL: `smtp://127.0.0.1:${server.port}`, ORDINATE_MAIL_FROM: 'reports@example.com' },
    EFFECT_WORLD['projects'],
    { ...EFFECT_WORLD, notes: [note(1, 'page', CHANGE, { page: page(0), text: `<b>@here</b> ${'x'.repeat(200)}` })] },
  );
  const { channel } = await json(
    'channels',
    'add',
    '--workspace',
    'acme',
    '--kind',
    'email',
    '--to',
    'team@acme.example',
  );
  const words = ['channels', 'digest', channel.id, '--as-of', '2026-01-05'];
  const said =
    /shop\.example, change of 2025-12-01 to https:\/\/shop\.example\/0 \(<b>@here<\/b> x{87}…\): \d+% more clicks than expected \(95% interval: \+\d+% to \+\d+%\): [\d,]+ against [\d,]+\./;
  t.match((await cli(...words, '--dry-run')).stdout, said);
  await json(...words);
  const [{ raw } = { raw: '' }] = server.mails;
  t.match(partsOf(raw, 'text/plain')[0]!.toString().replaceAll(/\s+/g, ' '), said);
  const html = partsOf(raw, 'text/html')[0]!.toString();
  t.match(html, /&lt;b&gt;@here/);
  t.notMatch(html, /<b>/);
  t.equal([...html.matchAll(/src="cid:/g)].length, 2, 'pictures stay with their projects');
  const { data } = await json('channels', 'digest', channel.id, '--as-of', '2026-01-12', '--dry-run');
  t.strictSame(
    data.projects.map(({ verdicts }: Row) => verdicts),
    [[], []],
    'by command, those of the period',
  );
});
