// Operators can add, suggest and archive tracked keywords by command, without duplicates or lost data.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { checkQueries, newKeywords, readQueries } from '../../server/projects/new-keywords.ts';
import { facts, keyword, temporaryFolder } from '../world.ts';
import { scene } from './scene.ts';

const TRACKED = { keywords: [keyword('Kw001', 'Red Shoes'), keyword('Kw002', 'old', { archived: true })] };

interface Listed {
  readonly id: string;
  readonly query: string;
}

t.test('keywords add: queries that are tracked already are skipped, whatever their case', async (t) => {
  const { json, run, get } = await scene(t, TRACKED);
  const add = ['keywords', 'add', '--project', 'Proj1'];
  const total = async () => (await get('/projects/Proj1/keywords')).body.paging.total as number;
  t.equal(await total(), 1);
  const added = await json(...add, '--query', 'boots', 'red SHOES', '--query', ' Boots ', '--query', 'old');
  t.match(added, { added: 2, skipped: 2, withData: null, keywords: [{ query: 'boots' }, { query: 'old' }] });
  t.equal(await total(), 3);
  const [project] = await json('projects', 'list');
  t.equal(project.trackedKeywords, 3);
  t.match(await run(...add, '--query', 'BOOTS'), { code: 0, out: /^0 queries added.* 1 skipped/ });

  const file = join(temporaryFolder(t), 'queries.txt');
  writeFileSync(file, '\uFEFFsandals\r\n\r\n  green boots \nsandals\nred shoes\n# no comment\n');
  t.match(await json(...add, '--file', file), { added: 3, skipped: 2, keywords: [{}, {}, { query: '# no comment' }] });
  const listed = (await json('keywords', 'list', '--project', 'Proj1')) as Listed[];
  t.strictSame(
    listed.map(({ query }) => query),
    ['# no comment', 'Red Shoes', 'boots', 'green boots', 'old', 'sandals'],
  );
  t.equal(new Set(listed.map(({ id }) => id)).size, 6);
  t.notOk(
    listed.some(({ id }) => id === 'Kw002'),
    'an archived keyword stays archived',
  );

  for (const [words, error] of [
    [[], /one of --file, --query and --top/],
    [['--query', 'a', '--top', '3'], /one of --file, --query and --top/],
    [['--file', join(file, 'no')], /ENOTDIR|ENOENT/],
    [['--query', 'x'.repeat(1001)], /Query 1 cannot be tracked/],
    [['--top', '3'], /project 'Proj1' is not connected/],
  ] as const) {
    t.match(await run(...add, ...words), { code: 1, out: '', error });
  }
  t.match(await run('keywords', 'add', '--project', 'Nope1', '--query', 'a'), { code: 1, error: /no project 'Nope1'/ });
});

t.test('keywords add says how many have data, as far as queries are stored', async (t) => {
  const { json, run } = await scene(t, {
    ...TRACKED,
    query_daily: facts(
      'query date country',
      ['boots', '2026-02-01', 'usa', 1, 2, 3],
      ['boots', '2026-03-01', 'usa', 1, 2, 3],
      ['grüne schuhe', '2026-03-01', 'deu', 1, 2, 3],
    ),
  });
  const add = ['keywords', 'add', '--project', 'Proj1'];
  const queries = ['--query', 'Boots', '--query', 'GRÜNE Schuhe', '--query', 'nobody asks this'];
  t.match(await json(...add, ...queries), { added: 3, withData: 2 });
  t.match(await run(...add, '--query', 'hats'), {
    code: 0,
    out: "1 query added to project 'Proj1'; 0 of them have data.\n",
  });
});

t.test('keywords add --top asks the provider of the project', async (t) => {
  const { json, run, google, connection } = await scene(t, TRACKED);
  await run('connections', 'set', '--project', 'Proj1', '--kind', 'search-console', ...connection);
  google.queries = ['red shoes', 'boots', 'hats', 'sandals'].map((key, at) => ({
    key,
    clicks: 9 - at,
    impressions: 10,
    position: 1,
  }));
  const added = await json('keywords', 'add', '--project', 'Proj1', '--top', '3');
  t.match(added, { added: 2, skipped: 1, withData: 2, keywords: [{ query: 'boots' }, { query: 'hats' }] });
  t.match(google.properties, ['sc-domain:shop.example']);
});

t.test('keywords archive: by query or id, with all that is stored left as it is', async (t) => {
  const { json, run, get } = await scene(t, {
    keywords: [keyword('Kw001', 'Red Shoes'), keyword('Kw002', 'boots'), keyword('Kw003', 'hats')],
    keyword_daily: facts('keyword_id date device', ['Kw001', '2026-03-01', 'mobile', 1, 2, 3]),
  });
  const archive = ['keywords', 'archive', '--project', 'Proj1'];
  const [before] = await json('projects', 'list');
  t.match(await json(...archive, '--query', 'red shoes'), { archived: [{ id: 'Kw001', query: 'Red Shoes' }] });
  t.match(await run(...archive, '--id', 'Kw003'), { code: 0, out: "1 keyword of project 'Proj1' archived.\n" });
  t.match((await get('/projects/Proj1/keywords')).body, { paging: { total: 1 }, keywords: [{ query: 'boots' }] });
  const [after] = await json('projects', 'list');
  t.strictSame([after.trackedKeywords, after.coverage], [1, before.coverage]);
  for (const words of [
    ['--query', 'red shoes'],
    ['--id', 'Kw001'],
    ['--id', 'Kw002', '--query', 'nothing'],
  ]) {
    t.match(await run(...archive, ...words), { code: 1, out: '', error: /tracks no keyword with the (query|id) '/ });
  }
  t.match(await run(...archive), { code: 1, error: /give --query or --id/ });
  t.equal((await json('keywords', 'list', '--project', 'Proj1')).length, 1, 'all or nothing');
});

t.test('new keywords: none twice, none that is tracked, ids of their own', (t) => {
  const queries = fc.array(fc.constantFrom('a', 'A', 'b', 'c', 'C ', 'ü', 'Ü'), { maxLength: 12 });
  fc.assert(
    fc.property(queries, queries, (tracked, more) => {
      // Ids that have been taken come again.
      let made = 0;
      const makeId = () => `Kw${String(Math.floor(made++ / 3) % 100).padStart(3, '0')}`;
      const to = { project: 'Proj1', source: 'manual', at: 1, makeId } as const;
      const { rows: before } = newKeywords([], checkQueries(tracked), to);
      const asked = checkQueries(more);
      const { rows, skipped } = newKeywords(before, asked, to);
      const all = [...before, ...rows];
      const lower = all.map(({ query }) => query.toLowerCase());
      return (
        new Set(lower).size === lower.length &&
        new Set(all.map(({ id }) => id)).size === all.length &&
        rows.length + skipped.length === asked.length &&
        asked.every((query) => lower.includes(query.toLowerCase()))
      );
    }),
  );
  t.strictSame(readQueries('one\rtwo\n\n'), ['one', 'two']);
  t.throws(() => readQueries('one\ntwo\tthree'), /Query 2 cannot be tracked/);
  t.throws(() => readQueries(Buffer.from([0x61, 0xff]).toString()), /Query 1 cannot be tracked/);
  t.end();
});
