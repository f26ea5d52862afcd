// Every request is read as documented: its range, its limits on both sides, and what is wrong by the name of its part.
import t from 'tap';
import { createKey } from '../../server/operations/keys.ts';
import { readRecorded, sameAsRecorded } from '../recorded.ts';
import { facts, keyword, makeWorld, NOW, ofProject, PROJECT, type Row, WORKSPACE } from '../world.ts';

const FILE = 'requests.txt';
const ARROW = ' → ';

const NEVER = { last_synced_at: null, synced_through: null, provisional_after: null };
const projects: Row[] = [
  PROJECT,
  { ...PROJECT, id: 'Ahead', synced_through: '2026-03-15' },
  { ...PROJECT, id: 'Fresh', ...NEVER },
  { ...PROJECT, id: 'Empty' },
  { ...PROJECT, id: 'Draft', setup_finished: false },
  { ...PROJECT, id: 'Their', workspace_id: 'other' },
  { ...PROJECT, id: 'Short', workspace_id: 'short' },
  { ...PROJECT, id: 'ShoFr', workspace_id: 'short', ...NEVER },
];
const site = facts('date device', ['2026-03-01', 'mobile', 3, 100, 900]);
const pages = facts('date url country', ['2026-03-01', 'https://shop.example/', 'usa', 3, 100, 900]);
/** The requests of a minute are more than a key may send. */
let time = NOW;
const TABLES = {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }, { ...WORKSPACE, id: 'short', keyword_history_days: 10 }],
  projects,
  keywords: [keyword('Kw001', 'red shoes'), ...ofProject('Empty', [keyword('Kw001', 'red shoes')])],
  groups: [{ project_id: 'Proj1', id: 'Group', name: 'Group', kind: 'manual', position: 1 }],
  site_daily: [...site, ...ofProject('Their', site), ...ofProject('Draft', site)],
  page_daily: [...pages, ...ofProject('Ahead', pages), ...ofProject('Fresh', pages)],
  query_daily: facts('date query country', ['2026-03-01', 'red shoes', 'usa', 3, 100, 900]),
};
const { app, catalog, key } = await makeWorld(t, TABLES, { now: () => (time += 1000) });
/** Of the workspace whose plan has ten days of keywords. */
const short = (await createKey(catalog, { workspace: 'short', name: 'test', at: 0 })).key;

interface Body {
  readonly error?: { readonly message: string };
  readonly range?: { from: string; to: string; clamped?: boolean; comparison?: { from: string; to: string } | null };
}

/** The status of an answer, with its range or what it refuses. `{{50 x}}` stands for fifty of them. */
async function answerTo(line: string): Promise<string> {
  const request = line.replaceAll(/\{\{(\d+) (.+?)\}\}/g, (_, times: string, text: string) =>
    text.repeat(Number(times)),
  );
  const [place = ''] = request.split('?');
  const path = place.startsWith('/') ? request : `/projects/${place.includes('/') ? '' : 'Proj1/'}${request}`;
  const url = `/api/v1${path.replaceAll(/[^\w%?=&./:;,+-]/gu, encodeURIComponent)}`;
  const { statusCode, body } = await app.inject({
    url,
    headers: { authorization: `Bearer ${request.startsWith('Sho') ? short : key}` },
  });
  const { error, range } = JSON.parse(body) as Body;
  if (error !== undefined) return `${statusCode} ${error.message.replaceAll('\n', '\\n')}`;
  if (range === undefined) return String(statusCode);
  const { from, to, clamped, comparison } = range;
  const against = comparison ? ` against ${comparison.from}..${comparison.to}` : '';
  return `${statusCode} ${from}..${to}${clamped ? ' (clamped)' : ''}${against}`;
}

t.test('requests, and how they are answered', async (t) => {
  const lines = readRecorded(FILE).trimEnd().split('\n');
  const answered: string[] = [];
  for (const line of lines) {
    const [request = ''] = line.split(ARROW);
    answered.push(request === '' || line.startsWith('#') ? line : `${request}${ARROW}${await answerTo(request)}`);
  }
  sameAsRecorded(t, FILE, `${answered.join('\n')}\n`);
});
