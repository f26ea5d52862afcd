// A form in the browser and the command that does the same refuse bad input in the same words.
import { join } from 'node:path';
import t from 'tap';
import { command } from '../command.ts';
import { localOnly } from '../stores.ts';
import { keyword, temporaryFolder } from '../world.ts';
import { makeTeam } from './team.ts';

const environment = { ORDINATE_SECRETS_KEY_FILE: join(temporaryFolder(t), 'secrets.key'), ORDINATE_FEEDS: 'on' };
const { send, dataFolder } = await makeTeam(t, { keywords: [keyword('Kw001', 'boots')] }, environment);
/** Stands for the id of a key. */
const KEY = 'KEY';
const run = (...words: string[]) => command({ ORDINATE_DATA: dataFolder, ...environment }, ...words);
const NOBODY = '7d9f0c52-3a11-4b7e-9c55-0d4e9e1f2a10';
const rule = { scope: 'site', metric: 'clicks', window: '7d', against: 'value', op: 'lt', value: 100 };
const long = (length: number): string => 'x'.repeat(length);

type Form = readonly [method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body?: object];
const ofProject = (path: string): string => `/projects/Proj1/${path}`;

const invite = (email: string, role = 'member') =>
  [
    ['POST', '/invitations', { email, role }],
    ['members', 'invite', '--workspace', 'acme', '--email', email, '--role', role],
  ] as const;
const key = (name: string) =>
  [
    ['POST', '/keys', { name }],
    ['keys', 'create', '--workspace', 'acme', '--name', name],
  ] as const;
const feed = (id: string, path: string) =>
  [
    ['POST', '/feeds', { keyId: id, path }],
    ['feeds', 'create', '--key', id, '--path', path],
  ] as const;
const channel = (kind: string, to: string, more: object = {}, words: readonly string[] = []) =>
  [
    ['POST', '/channels', { kind, to, ...more }],
    ['channels', 'add', '--workspace', 'acme', '--kind', kind, '--to', to, ...words],
  ] as const;
const share = (screens: string, expires?: string) =>
  [
    ['POST', ofProject('shares'), { screens: screens.split(','), expiresAt: expires ?? null }],
    [
      'share',
      'create',
      '--project',
      'Proj1',
      '--screens',
      screens,
      ...(expires === undefined ? [] : ['--expires', expires]),
    ],
  ] as const;
const note = (fields: { date?: string; endDate?: string; page?: string; text?: string; category?: string }) => {
  const sent = { date: '2026-03-01', text: 'New titles', category: 'content', ...fields };
  const { date, endDate, page, text, category } = sent as typeof sent & { endDate?: string; page?: string };
  const words = ['--date', date, '--text', text, '--category', category];
  if (endDate !== undefined) words.push('--end-date', endDate);
  if (page !== undefined) words.push('--page', page);
  return [
    ['POST', ofProject('notes'), { ...sent, ...(page === undefined ? {} : { scope: 'page' }) }],
    ['notes', 'add', '--project', 'Proj1', ...words],
  ] as const;
};
const alertRule = (name: string, changes: object) =>
  [
    ['POST', ofProject('rules'), { name, rule: { ...rule, ...changes } }],
    ['rules', 'add', '--project', 'Proj1', '--name', name, '--rule', JSON.stringify({ ...rule, ...changes })],
  ] as const;
const ruleTest = (changes: object) =>
  [
    ['POST', ofProject('rules/test'), { rule: { ...rule, ...changes } }],
    ['rules', 'test', '--project', 'Proj1', '--rule', JSON.stringify({ ...rule, ...changes })],
  ] as const;
const track = (...queries: string[]) =>
  [
    ['POST', ofProject('keywords'), { queries }],
    ['keywords', 'add', '--project', 'Proj1', ...queries.flatMap((query) => ['--query', query])],
  ] as const;
const brand = (...terms: string[]) =>
  [
    ['PUT', ofProject('brand-terms'), { terms }],
    ['projects', 'set', '--project', 'Proj1', ...terms.flatMap((term) => ['--brand-term', term])],
  ] as const;

const TABLE: readonly (readonly [Form, readonly string[]])[] = [
  ...['nobody', '', 'two@acme.example, more@acme.example', `${long(300)}@acme.example`].map((email) => invite(email)),
  invite('owner@acme.example'),
  ...['', '  ', long(101), 'two\nlines'].map(key),
  feed(NOBODY, '/projects/Proj1/site.csv'),
  ...['/nowhere', 'site.csv', '/projects/Proj1/site.csv?period=x'].map((path) => feed(KEY, path)),
  ...['http://10.0.0.1/x', 'ftp://hooks.example/x', 'nonsense', 'https://user:secret@hooks.example/x', ''].map((to) =>
    channel('webhook', to),
  ),
  channel('email', 'nonsense'),
  channel('email', 'team@acme.example'),
  channel('slack', 'https://hooks.example/x', { name: long(101) }, ['--name', long(101)]),
  channel('slack', 'https://hooks.example/x', { project: 'Other' }, ['--project', 'Other']),
  channel('slack', 'https://hooks.example/x', { types: ['storms'] }, ['--type', 'storms']),
  channel('slack', 'https://hooks.example/x', { events: ['storms'] }, ['--event', 'storms']),
  ...['', 'overview,nope'].map((screens) => share(screens)),
  ...['soon', '2020-01-01', '2026-02-30'].map((expires) => share('overview', expires)),
  note({ date: 'yesterday' }),
  note({ date: '2026-02-30' }),
  note({ endDate: '2026-02-01' }),
  note({ page: '/boots' }),
  note({ page: 'javascript:alert(1)' }),
  note({ text: '' }),
  note({ text: long(10_001) }),
  alertRule('', {}),
  alertRule(long(201), {}),
  ...[{ scope: 'moon' }, { window: '0d' }, { value: 'many' }, { more: 1 }, { unit: 'percent' }, { for: 0 }].flatMap(
    (changes) => [alertRule('Few clicks', changes), ruleTest(changes)],
  ),
  alertRule('Few clicks', { scope: 'group', id: 'Nope1' }),
  ruleTest({ scope: 'keyword', id: 'Nope1' }),
  track(long(1001)),
  track('boots', 'two\u0007bells'),
  track(''),
  brand(''),
  brand(long(300)),
  [
    ['DELETE', '/members/owner@acme.example'],
    ['members', 'remove', '--workspace', 'acme', '--email', 'owner@acme.example'],
  ],
];

/** The clock of the server stands still in tests; that of commands does not. */
const withoutNow = (text: string): string => text.replace(/it is \S+ now/, 'it is later now');

t.test('each refusal', localOnly, async (t) => {
  const { body } = await send('owner', 'POST', '/keys', { name: 'feeds' });
  const id = String(body.id);
  const here = (text: string): string => (text === KEY ? id : text);
  for (const [[method, path, sent], words] of TABLE) {
    const fields = sent && (JSON.parse(JSON.stringify(sent).replace(KEY, id)) as object);
    const { status, message } = await send('owner', method, path, fields);
    const { code, stdout, stderr } = await run(...words.map(here));
    const name = words.join(' ').slice(0, 100);
    t.match(status, /^4/, name);
    t.strictSame([code, stdout], [1, ''], name);
    t.ok(withoutNow(stderr).includes(withoutNow(message)), `${name}: '${message}' and '${stderr.slice(0, 300)}'`);
  }
});
