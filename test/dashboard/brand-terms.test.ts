// Owners and admins set brand terms, texts or whole words, and look first which queries they change.
import t from 'tap';
import { command } from '../command.ts';
import { facts, keyword } from '../world.ts';
import { audited, eachRole, makeTeam } from './team.ts';

const TERMS = '/projects/Proj1/brand-terms';
const ROWS = {
  query_daily: facts(
    'query date country',
    ['acme boots', '2026-03-05', 'usa', 5, 10, 0],
    ['acmé hats', '2026-03-05', 'usa', 4, 10, 0],
    ['acmehats', '2026-03-05', 'usa', 3, 10, 0],
    ['hats', '2026-03-05', 'usa', 2, 10, 0],
  ),
  keywords: [keyword('Kw001', 'Acme Boots'), keyword('Kw002', 'acme'), keyword('Kw003', 'zen')],
};
const WORD = { text: 'acme', match: 'word' };
const managers = ['owner', 'admin'] as const;

t.test('terms: set, visible at once, audited, kept by a rebuild', async (t) => {
  const { send, read, catalog, dataFolder } = await makeTeam(t, ROWS);
  const branded = async () => {
    const { queries } = (await read('/projects/Proj1/queries')).body as {
      queries: { query: string; branded: boolean }[];
    };
    return queries.filter((row) => row.branded).map(({ query }) => query);
  };
  t.strictSame((await send('key', 'GET', TERMS)).body.terms, ['acme']);
  t.strictSame(await branded(), ['acme boots', 'acmehats']);
  const terms = ['zen', WORD];
  t.match(await send('admin', 'PUT', TERMS, { terms: [' zen', WORD, 'zen'] }), { status: 200, body: { terms } });
  t.strictSame((await send('member', 'GET', TERMS)).body.terms, terms);
  t.strictSame(await branded(), ['acme boots', 'acmé hats']);
  t.strictSame(await audited(catalog, 'brand_terms.set'), [
    { actor: 'admin@acme.example', subject: 'Proj1', details: { terms } },
  ]);
  t.match(await command({ ORDINATE_DATA: dataFolder }, 'rebuild'), { code: 0 });
  t.strictSame((await send('owner', 'GET', TERMS)).body.terms, terms);
  t.match((await send('owner', 'PUT', TERMS, { terms: [] })).body, { terms: [] });
  t.strictSame(await branded(), []);
});

t.test('by command, and in an exported snapshot', async (t) => {
  const { send, dataFolder } = await makeTeam(t, ROWS);
  const run = (...words: string[]) => command({ ORDINATE_DATA: dataFolder }, ...words);
  const set = await run('projects', 'set', '--project', 'Proj1', '--brand-term', 'zen', '--brand-word', 'Acmé');
  t.match(set, { code: 0, stderr: '' });
  const terms = ['zen', { text: 'Acmé', match: 'word' }];
  t.strictSame((await send('owner', 'GET', TERMS)).body.terms, terms);
  const none = await run('projects', 'set', '--project', 'Proj1', '--brand-word', 'a', '--no-brand-terms');
  t.match(none, { code: 1, stderr: /not both/ });
  const folder = `${dataFolder}-exported`;
  t.match(await run('export', '--workspace', 'acme', '--out', folder, '--format', 'parquet'), { code: 0 });
  await send('owner', 'PUT', TERMS, { terms: [] });
  t.match(await run('load', folder), { code: 0 });
  t.strictSame((await send('owner', 'GET', TERMS)).body.terms, terms);
});

t.test('a preview: which queries would change, listed or tracked; nothing is saved', async (t) => {
  const { send } = await makeTeam(t, ROWS);
  const preview = async (project: string, terms: readonly unknown[]) => {
    const { branded, ...changed } = (await send('admin', 'POST', `/projects/${project}/brand-terms/preview`, { terms }))
      .body;
    return { now: branded.now as number, after: branded.then as number, ...(changed as object) };
  };
  t.strictSame(await preview('Proj1', [WORD, 'zen']), {
    ...{ now: 3, after: 4, added: ['acmé hats', 'zen'], removed: ['acmehats'] },
  });
  t.strictSame((await send('owner', 'GET', TERMS)).body.terms, ['acme']);
  t.strictSame(await preview('Proj2', []), { now: 0, after: 0, added: [], removed: [] }, 'of nothing');
});

t.test('who may, and what is wrong', async (t) => {
  const { send } = await makeTeam(t, ROWS);
  const body = { terms: ['acme'] };
  const readers = ['owner', 'admin', 'member', 'key'] as const;
  await eachRole(t, send, { allowed: readers, status: 200 }, async () => ['GET', TERMS]);
  await eachRole(t, send, { allowed: managers, status: 200 }, async () => ['PUT', TERMS, body]);
  await eachRole(t, send, { allowed: managers, status: 200 }, async () => ['POST', `${TERMS}/preview`, body]);
  for (const [terms, message] of [
    ['acme', /'terms' must be array/],
    [[''], /'terms' must be at most 100 texts of 1 to 100 characters, or {"text", "match": "word"}/],
    [[5], /'terms' must be at most 100 texts/],
    [['a\nb'], /'terms' must be at most 100 texts/],
    [['a'.repeat(101)], /'terms' must be at most 100 texts/],
    [[{ text: 'acme' }], /'terms' must be at most 100 texts/],
    [[{ text: 'acme', match: 'exact' }], /'terms' must be at most 100 texts/],
    [[{ text: '!', match: 'word' }], /'terms' must be at most 100 texts/],
    [[{ text: 'o'.repeat(100), match: 'word' }], /is too long to be found as whole words/],
    [Array.from({ length: 101 }, (_, at) => `t${at}`), /'terms' must be at most 100 texts/],
  ] as const) {
    for (const [method, path] of [
      ['PUT', TERMS],
      ['POST', `${TERMS}/preview`],
    ] as const) {
      t.match(await send('owner', method, path, { terms }), { status: 400, code: 'invalid_request', message });
    }
  }
  t.match(await send('owner', 'PUT', TERMS, { term: [] }), { status: 400, message: /'term' is not a field/ });
});
