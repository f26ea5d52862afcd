// What each kind of channel gets for each event, word for word: test/fixtures/messages.txt.
import t from 'tap';
import { announceSync } from '../../server/catalog/deliveries.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import { addDays, eachDay } from '../../server/domain/dates.ts';
import { headersOf, partsOf } from '../fakes/smtp.ts';
import { sameAsRecorded } from '../recorded.ts';
import { facts, keyword, PROJECT, type Row, WORKSPACE } from '../world.ts';
import { alertOf, makeMailScene } from './scene.ts';

const CHATS = ['slack', 'discord', 'teams', 'google-chat'] as const;
const EVIL = [
  '@here <!channel> <at>all</at> <users/all> [click](https://evil.example) <https://evil.example|x> www.evil.example',
  '*bold* _it_ ~no~ ~~out~~ `code` \\*x\\* mailto:a@b "quoted" & |spoiler|\u202e\r\nBcc: x\u2028Клики 🐍',
].join(' ');
const MONDAY = '2026-03-09';

/** How many projects further workspaces have: so many that a digest names some of them, or has one line too many. */
const SIZES = { wA: 3, wB: 3, wC: 2, wD: 2, wE: 51 };

const projectsOf = (workspace_id: string, count: number): Row[] =>
  Array.from({ length: count }, (_, n) => ({
    ...{ ...PROJECT, provisional_after: '2026-03-10', workspace_id, id: workspace_id[1] + String(n).padStart(4, '0') },
    domain: `${'abc'[n] ?? `p${n}`}.example`,
  }));

function alertRow(project_id: string, title: string, severity = 'info'): Row {
  const created_at = '2026-03-01T00:00:00Z';
  return { project_id, type: 'traffic_drop', kind: 'Traffic drop', severity, title, body: '', created_at };
}

/** The length of the texts of alerts that makes the lines of a digest as long as a chat takes them: see below. */
const BEFORE =
  ': 0 clicks, 0 impressions. There is no data to compare with. Open alerts: '.length + 'a.example.'.length;
const LONG = [
  // 3,600 characters: 1,201 of each of the first two lines, 46 of the last one, and so 1,152 or more.
  ...['A', 'B'].flatMap((prefix, more) => [
    ...['0000', '0001'].map((n) => alertRow(prefix + n, 'x'.repeat(2000))),
    alertRow(`${prefix}0002`, 'y'.repeat(1151 + more - BEFORE)),
  ]),
  // Discord: 1,900 less 36 of the title, 2 of the workspace, 31 of the link and 40; an underscore takes two.
  ...['C', 'D'].flatMap((prefix, more) => [
    alertRow(`${prefix}0000`, 'x'.repeat(2000)),
    alertRow(`${prefix}0001`, `${'_'.repeat(100)}${'y'.repeat(543 + more - 200 - BEFORE)}`),
  ]),
];
/** Titles and lines as long as a chat may have them, and longer: 200 characters with "Alert (warning): ", and 1,200. */
const TEXTS = [
  ['x'.repeat(183), 'y'.repeat(1200)],
  ['x'.repeat(184), 'y'.repeat(1201)],
  // Halves of a character are left out.
  [`${'x'.repeat(181)}🐍🐍`, `${'y'.repeat(1198)}🐍🐍`],
  ['ä'.repeat(184), 'я'.repeat(1201)],
] as const;

t.test('each event in each kind of channel', async (t) => {
  const days = (project_id: string, from: string, count: number, clicks: number): Row[] =>
    Array.from({ length: count }, (_, day) => {
      const measures = { clicks: clicks + day, impressions: 1000 + day, sum_position: 5500 };
      return { project_id, date: addDays(from, day), device: 'mobile', ...measures };
    });
  const { server, channel, add, json, announce, send, receiver, world } = await makeMailScene(
    t,
    {},
    [
      { ...PROJECT, provisional_after: '2026-03-10' },
      { ...PROJECT, id: 'Proj2', domain: 'bücher_*.example' },
      { ...PROJECT, id: 'Proj3', domain: 'new.example', setup_finished: false },
      ...Object.entries(SIZES).flatMap(([workspace, count]) => projectsOf(workspace, count)),
    ],
    {
      workspaces: [WORKSPACE, ...Object.keys(SIZES).map((id): Row => ({ ...WORKSPACE, id, name: id }))],
      keywords: [keyword('KwAaa', 'boots')],
      // The second has more clicks, so that it comes first; they are fewer than before, and two of its days are missing.
      site_daily: [
        ...days('Proj1', '2026-02-23', 14, 100),
        ...days('Proj2', '2026-02-23', 6, 400),
        ...days('Proj2', '2026-03-02', 6, 190),
      ],
      page_daily: facts(
        'url date country',
        ...[
          [9, 1],
          [20, 55],
          [4, 5],
          [7, 7],
          // Six that won and six that lost, of which five each are told.
          ...[3, 4, 5, 6].map((now) => [1, now] as const),
          ...[2, 3, 4, 5, 6].map((now) => [9, now] as const),
        ].flatMap(([before, now], at) => [
          [`https://shop.example/${at}`, '2026-02-25', 'gbr', before, 60, 80],
          [`https://shop.example/${at}`, '2026-03-04', 'gbr', now, 60, 80],
        ]),
        // Pages of each day: without them, nothing could be said to have moved.
        ...eachDay('2026-02-23', '2026-03-08').map((day) => ['https://shop.example/same', day, 'gbr', 1, 60, 80]),
      ),
      alerts: [
        ...['info', 'critical'].map((severity, n) => alertRow('Proj1', ['Clicks fell <b>', EVIL][n]!, severity)),
        ...LONG,
      ].map((row, n) => ({ id: `0a1b2c3d-0000-4000-8000-${String(n).padStart(12, '0')}`, ...row })),
    },
  );
  const ids = new Map<string, string>();
  for (const kind of ['webhook', ...CHATS]) {
    const { channel } = await add(kind, `/${kind}`, '--name', 'Us <all>');
    ids.set(kind, channel.id);
  }
  ids.set('email', channel['id']);

  const found: string[] = [];
  const take = (
    event: string,
    kinds: readonly string[] = ['webhook', ...CHATS, 'email'],
    types = ['text/plain', 'text/html'],
  ): void => {
    found.push(`=== ${event}`);
    const received = new Map(receiver.received.splice(0).map(({ path, body }) => [path.slice(1), body]));
    const [letter] = server.mails.splice(0);
    for (const kind of kinds.filter((kind) => kind !== 'email'))
      found.push(`${kind}: ${received.get(kind) ?? 'nothing'}`);
    if (!kinds.includes('email')) return;
    const { raw } = letter!;
    const parts = types.flatMap((type) => partsOf(raw, type)).map(String);
    found.push(`email: ${headersOf(raw).get('subject')}`);
    const lines = parts.flatMap((part) => part.replaceAll('\r', '').split('\n'));
    found.push(...lines.map((line) => `  ${line}`.trimEnd()));
  };
  const sent = async (event: string, kinds?: readonly string[]): Promise<void> => {
    while ((await send()).sent > 0);
    take(event, kinds);
  };
  await announce('alert.opened', [alertOf('a1', { severity: 'warning', keywordId: 'KwAaa', body: '10. By half.' })]);
  await sent('an alert opens');
  await announce('alert.opened', [alertOf('a2', { severity: 'info', title: EVIL, body: `${EVIL} end` })], 'Proj2');
  await sent('an alert with texts from outside');
  await announce('alert.resolved', [
    alertOf('a1', { severity: 'critical', body: '- By half.', resolvedAt: Date.parse('2026-03-15') * 1000 }),
  ]);
  await sent('an alert resolves');
  await announce('alert.opened', [alertOf('a3', { severity: 'info', body: `#${'*'.repeat(1300)}` })]);
  await sent('an alert whose one line, as it is written there, is longer than Discord takes', ['discord']);
  for (const [status, reason, provider] of [
    ['failed', 'access_lost', 'google'],
    ['failed', 'access_lost', 'bing'],
    ['failed', 'credentials', undefined],
    ['failed', 'quota', undefined],
    ['warning', 'unavailable', undefined],
    ['failed', 'other', undefined],
    ['ok', null, undefined],
  ] as const) {
    const project = await requireProject(world.catalog, 'Proj2');
    const at = Date.parse('2026-03-14T01:02:03Z') * 1000 + found.length;
    await world.catalog.transaction((tx) =>
      announceSync(tx, project, { status, reason, at, ...(provider && { provider }) } as never),
    );
    await sent(
      `the sync: ${status}, ${reason} ${provider ?? ''}`.trim(),
      provider === 'google' ? undefined : ['slack'],
    );
  }
  for (const id of ids.values()) await json('channels', 'test', id);
  take('a test');
  for (const id of ids.values()) await json('channels', 'digest', id, '--as-of', MONDAY);
  take('a digest');
  await json('channels', 'digest', ids.get('slack')!, '--as-of', '2026-03-16');
  take('a digest of days that may still change', ['slack']);
  for (const [at, [title, body]] of TEXTS.entries()) {
    await announce('alert.opened', [alertOf(`long${at}`, { title, body })]);
    await sent(`an alert with ${title.length} and ${body.length} characters`, CHATS);
  }
  for (const [workspace, kind] of [
    ['wA', 'slack'],
    ['wB', 'slack'],
    ['wC', 'discord'],
    ['wD', 'discord'],
    ['wE', 'slack'],
    ['wE', 'email'],
  ] as const) {
    const to = kind === 'email' ? 'team@acme.example' : `${receiver.origin}/${kind}`;
    const { channel: one } = await json('channels', 'add', '--workspace', workspace, '--kind', kind, '--to', to);
    await json('channels', 'digest', one.id, '--as-of', MONDAY);
    if (kind === 'email')
      t.equal(partsOf(server.mails[0]!.raw, 'image/png').length, 20, 'pictures of the first twenty');
    take(`a digest of ${SIZES[workspace]} projects of ${workspace}`, [kind], ['text/plain']);
  }

  // What differs in each run: ids, the port, secret links, and when a test and a digest were made.
  const names = [...[...ids].map(([kind, id]) => [id, `<${kind}>`] as const), [receiver.origin, '<origin>'] as const];
  const isLong = /(\\*[xyäя_])\1{20,}/g;
  const text = names
    .reduce((rest, [id, name]) => rest.replaceAll(id, name), `${found.join('\n')}\n`)
    .replaceAll(/ord_stop_\w{32}/g, 'ord_stop_…')
    .replaceAll(/"timestamp":"(?!2026-03)[^"]*"/g, '"timestamp":"…"')
    .replaceAll(isLong, (run, letter: string) => `${letter}{${run.length / letter.length}}`);
  sameAsRecorded(t, 'messages.txt', text);
});
