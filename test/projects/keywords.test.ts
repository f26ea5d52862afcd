// Operators can add, suggest and archive tracked keywords by command, without duplicates or lost data.
import fc from 'fast-check';
import t from 'tap';
import { checkQueries, newKeywords } from '../../server/projects/new-keywords.ts';
import { transcripts } from '../transcript.ts';
import { keyword } from '../world.ts';
import { scene } from './scene.ts';

const TRACKED = { keywords: [keyword('Kw001', 'Red Shoes'), keyword('Kw002', 'old', { archived: true })] };

transcripts('keyword-commands');

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
  t.end();
});
