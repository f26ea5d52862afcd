// What each kind of channel gets for each event, word for word: test/fixtures/messages.txt.
import t, { type Test } from 'tap';
import { announceSync } from '../../server/catalog/outbox.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import { addDays } from '../../server/domain/dates.ts';
import { headersOf, partsOf, startMailServer } from '../fakes/smtp.ts';
import { sameAsRecorded } from '../recorded.ts';
import { facts, keyword, PROJECT, type Row, WORKSPACE } from '../world.ts';
import { alertOf, makeScene } from './scene.ts';

const CHATS = ['slack', 'discord', 'teams', 'google-chat'] as const;
const EVIL = [
  '@here <!channel> <at>all</at> <users/all> [click](https://evil.example) <https://evil.example|x> www.evil.example',
  '*bold* _it_ ~no~ ~~out~~ `code` \\*x\\* mailto:a@b "quoted" & |spoiler|\u202e\r\nBcc: x\u2028Клики 🐍',
].join(' ');
const MONDAY = '2026-03-09';

async function mailScene(t: Test, projects: readonly Row[], tables: Readonly<Record<string, readonly Row[]>>) {
  const server = await startMailServer(t);
  const settings = { ORDINATE_SMTP_URL: `smtp://127.0.0.1:${server.port}`, ORDINATE_MAIL_FROM: 'reports@example.com' };
  return { server, ...(await makeScene(t, settings, projects, tables)) };
}

t.test('each event in each kind of channel', async (t) => {
  const days = (project_id: string, from: string, count: number, clicks: number): Row[] =>
    Array.from({ length: count }, (_, day) => {
      const measures = { clicks: clicks + day, impressions: 1000 + day, sum_position: 5500 };
      return { project_id, date: addDays(from, day), device: 'mobile', ...measures };
    });
  const { server, add, json, announce, send, receiver, world } = await mailScene(
    t,
    [
      { ...PROJECT, provisional_after: '2026-03-10' },
      { ...PROJECT, id: 'Proj2', domain: 'bücher_*.example' },
      { ...PROJECT, id: 'Proj3', domain: 'new.example', setup_finished: false },
    ],
    {
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
      ),
      alerts: ['info', 'critical'].map((severity, n) => ({
        ...{
          id: `0a1b2c3d-0000-4000-8000-00000000000${n}`,
          project_id: 'Proj1',
          type: 'traffic_drop',
          kind: 'Traffic drop',
        },
        ...{ severity, title: ['Clicks fell <b>', EVIL][n], body: '', created_at: '2026-03-01T00:00:00Z' },
      })),
    },
  );
  const ids = new Map<string, string>();
  for (const kind of ['webhook', ...CHATS]) {
    const { channel } = await add(kind, `/${kind}`, '--name', 'Us <all>');
    ids.set(kind, channel.id);
  }
  const mail = ['channels', 'add', '--workspace', 'acme', '--kind', 'email', '--to', 'team@acme.example'];
  const { channel } = await json(...mail);
  ids.set('email', channel.id);

  const found: string[] = [];
  const take = (event: string, kinds: readonly string[] = ['webhook', ...CHATS, 'email']): void => {
    found.push(`=== ${event}`);
    const received = new Map(receiver.received.splice(0).map(({ path, body }) => [path.slice(1), body]));
    const [letter] = server.mails.splice(0);
    for (const kind of kinds.filter((kind) => kind !== 'email'))
      found.push(`${kind}: ${received.get(kind) ?? 'nothing'}`);
    if (!kinds.includes('email')) return;
    const { raw } = letter!;
    const parts = ['text/plain', 'text/html'].flatMap((type) => partsOf(raw, type)).map(String);
    found.push(`email: ${headersOf(raw).get('subject')}`);
    for (const part of parts)
      found.push(
        ...part
          .replaceAll('\r', '')
          .split('\n')
          .map((line) => `  ${line}`.trimEnd()),
      );
  };
  const sent = async (event: string, kinds?: readonly string[]): Promise<void> => {
    while ((await send()).sent > 0);
    take(event, kinds);
  };
  await announce('alert.opened', [alertOf('a1', { severity: 'warning', keywordId: 'KwAaa' })]);
  await sent('an alert opens');
  await announce('alert.opened', [alertOf('a2', { severity: 'info', title: EVIL, body: `${EVIL} end` })], 'Proj2');
  await sent('an alert with texts from outside');
  await announce('alert.resolved', [
    alertOf('a1', { severity: 'critical', resolvedAt: Date.parse('2026-03-15') * 1000 }),
  ]);
  await sent('an alert resolves');
  await announce('alert.opened', [alertOf('a3', { severity: 'info', body: '*'.repeat(1300) })]);
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

  // What differs in each run: ids, the port, secret links, and when a test and a digest were made.
  const names = [...[...ids].map(([kind, id]) => [id, `<${kind}>`] as const), [receiver.origin, '<origin>'] as const];
  const text = names
    .reduce((rest, [id, name]) => rest.replaceAll(id, name), `${found.join('\n')}\n`)
    .replaceAll(/ord_stop_\w{32}/g, 'ord_stop_…')
    .replaceAll(/"timestamp":"(?!2026-03)[^"]*"/g, '"timestamp":"…"');
  sameAsRecorded(t, 'messages.txt', text);
});

/** What chats get, of each kind. */
interface Sent {
  readonly blocks: readonly { readonly text: { readonly text: string } }[];
  readonly content: string;
  readonly attachments: readonly [
    { readonly content: { readonly body: readonly { readonly inlines: readonly [{ readonly text: string }] }[] } },
  ];
  readonly cardsV2: readonly [
    {
      readonly card: {
        readonly sections: readonly [
          { readonly widgets: readonly { readonly textParagraph: { readonly text: string } }[] },
        ];
      };
    },
  ];
}

t.test('texts as long as a chat may have them, and one character longer', async (t) => {
  const { add, announce, send, receiver } = await makeScene(t);
  for (const kind of CHATS) await add(kind, `/${kind}`);
  // "Alert (warning): " has 17 characters; a title may have 200, a line 1,200.
  const cases = [
    ['x'.repeat(183), 'y'.repeat(1200), `Alert (warning): ${'x'.repeat(183)}`, 'y'.repeat(1200)],
    ['x'.repeat(184), 'y'.repeat(1201), `Alert (warning): ${'x'.repeat(182)}…`, `${'y'.repeat(1199)}…`],
    // Halves of a character are left out.
    [
      `${'x'.repeat(181)}🐍🐍`,
      `${'y'.repeat(1198)}🐍🐍`,
      `Alert (warning): ${'x'.repeat(181)}…`,
      `${'y'.repeat(1198)}…`,
    ],
    ['ä'.repeat(184), 'я'.repeat(1201), `Alert (warning): ${'ä'.repeat(182)}…`, `${'я'.repeat(1199)}…`],
  ] as const;
  for (const [index, [title, body]] of cases.entries()) {
    await announce('alert.opened', [alertOf(`a${index}`, { title, body })]);
    while ((await send()).sent > 0);
  }
  const linesOf = (kind: string, body: string): string[] => {
    const sent = JSON.parse(body) as Sent;
    if (kind === 'slack') return sent.blocks.slice(0, 2).map(({ text }) => text.text);
    if (kind === 'discord') return sent.content.replaceAll('**', '').split('\n').slice(0, 2);
    if (kind === 'teams') return sent.attachments[0].content.body.slice(0, 2).map(({ inlines }) => inlines[0].text);
    return sent.cardsV2[0].card.sections[0].widgets.slice(0, 2).map(({ textParagraph }) => textParagraph.text);
  };
  for (const kind of CHATS) {
    const sent = receiver.received.filter(({ path }) => path === `/${kind}`).map(({ body }) => linesOf(kind, body));
    t.strictSame(
      sent,
      cases.map(([, , title, line]) => [title, line]),
      kind,
    );
  }
});

/** The length of the texts of alerts that makes the lines of a digest as long as a chat takes them: see below. */
const BEFORE =
  ': 0 clicks, 0 impressions. There is no data to compare with. Open alerts: '.length + 'a.example.'.length;

t.test('as many lines as a chat takes, and one more', async (t) => {
  const workspace = (id: string): Row => ({ ...WORKSPACE, id, name: id });
  const projectsOf = (workspace_id: string, prefix: string, count: number): Row[] =>
    Array.from({ length: count }, (_, n) => ({
      ...PROJECT,
      workspace_id,
      id: `${prefix}${String(n).padStart(4, '0')}`,
      domain: `${'abc'[n] ?? `p${n}`}.example`,
    }));
  const alert = (project_id: string, title: string): Row => ({
    ...{ id: `0a1b2c3d-0000-4000-8000-0000000${project_id}`, project_id, type: 'traffic_drop', kind: 'Traffic drop' },
    ...{ severity: 'info', title, body: '', created_at: '2026-03-01T00:00:00Z' },
  });
  const { cli, json, receiver, server } = await mailScene(
    t,
    ['A', 'B', 'C', 'D']
      .flatMap((prefix) => projectsOf(`w${prefix}`, prefix, 'AB'.includes(prefix) ? 3 : 2))
      .concat(projectsOf('wE', 'E', 51)),
    {
      workspaces: ['acme', 'wA', 'wB', 'wC', 'wD', 'wE'].map(workspace),
      alerts: [
        // 3,600 characters: 1,201 of each of the first two lines, 46 of the last one, and so 1,152 or more.
        ...['A', 'B'].flatMap((prefix, more) => [
          ...['0000', '0001'].map((n) => alert(prefix + n, 'x'.repeat(2000))),
          alert(`${prefix}0002`, 'y'.repeat(1151 + more - BEFORE)),
        ]),
        // Discord: 1,900 less 36 of the title, 2 of the workspace, 31 of the link and 40; an underscore takes two.
        ...['C', 'D'].flatMap((prefix, more) => [
          alert(`${prefix}0000`, 'x'.repeat(2000)),
          alert(`${prefix}0001`, `${'_'.repeat(100)}${'y'.repeat(543 + more - 200 - BEFORE)}`),
        ]),
      ],
    },
  );
  const digest = async (workspace: string, kind: string, to = receiver.origin): Promise<string> => {
    const { channel } = await json('channels', 'add', '--workspace', workspace, '--kind', kind, '--to', to);
    t.match(await cli('channels', 'digest', channel.id, '--as-of', MONDAY), { code: 0 });
    return kind === 'email' ? '' : receiver.received.at(-1)!.body;
  };
  const blocksOf = async (workspace: string): Promise<string[]> =>
    (JSON.parse(await digest(workspace, 'slack')) as Sent).blocks.map(({ text }) => text.text);
  const contentOf = async (workspace: string): Promise<string[]> =>
    (JSON.parse(await digest(workspace, 'discord')) as Sent).content.split('\n');
  const changes = 'Changes are against 2026-02-23 to 2026-03-01.';
  const link = '<https://reports.example.com/app|Open in Ordinate>';
  t.strictSame((await blocksOf('wA')).slice(4), [changes, 'wA', link]);
  t.strictSame((await blocksOf('wB')).slice(4), ['1 more lines are in Ordinate.', 'wB', link]);
  t.strictSame((await contentOf('wC')).slice(3), [changes, 'wC', '<https://reports.example.com/app>']);
  t.strictSame((await contentOf('wD')).slice(3), [
    '1 more lines are in Ordinate.',
    'wD',
    '<https://reports.example.com/app>',
  ]);

  // 51 projects: a digest names 50 in 52 lines, of which a chat has 40.
  const many = await blocksOf('wE');
  const line = (n: number): string =>
    `${'abc'[n] ?? `p${n}`}.example: 0 clicks, 0 impressions. There is no data to compare with.`;
  t.strictSame(many.slice(1), [
    ...Array.from({ length: 40 }, (_, n) => line(n)),
    '12 more lines are in Ordinate.',
    'wE',
    link,
  ]);
  await digest('wE', 'email', 'team@acme.example');
  const [letter] = server.mails;
  const text = partsOf(letter!.raw, 'text/plain')[0]!.toString().split('\r\n\r\n');
  t.strictSame(text.slice(0, 54), [
    ...['wE: week of 2026-03-02 to 2026-03-08', ...Array.from({ length: 50 }, (_, n) => line(n))],
    ...['1 more projects are not shown here.', changes, 'wE'],
  ]);
  t.equal(partsOf(letter!.raw, 'image/png').length, 20, 'pictures of the first twenty');
});
