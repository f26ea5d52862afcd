// Page alerts read only the rows that can open or resolve an alert, in order of days.
import t from 'tap';
import { readPageRows } from '../../server/alerts/page-rows.ts';
import { shortIdNumber } from '../../server/domain/ids.ts';
import type { Facts, TakeColumns } from '../../server/facts/facts.ts';

const RANGE = { from: '2026-06-01', to: '2026-06-30' };
const TARGET = 7;

/** Facts that have these rows of pages (keyword, day, page, impressions), in pieces. */
function factsOf(pieces: readonly (readonly (readonly [string, number, number, number])[])[]): Facts {
  const keywordPages = async (
    _query: unknown,
    keywords: readonly string[] | 'all',
    take: TakeColumns,
  ): Promise<void> => {
    for (const piece of pieces) {
      const rows = piece.filter(([keyword]) => keywords === 'all' || keywords.includes(keyword));
      const numbers = rows.map(([keyword, ...row]) => [shortIdNumber(keyword), ...row]);
      take(
        [0, 1, 2, 3].map((column) => Float64Array.from(numbers, (row) => row[column]!)),
        rows.length,
      );
    }
  };
  return { keywordPages, pageNumbers: async () => [TARGET] } as unknown as Facts;
}

const keywordOf = (id: string, targetUrl: string | null = null) => ({ id, query: id, targetUrl });
const files = [{ file: 'x', bytes: 1, sha256: '' }];
const query = { files, range: RANGE, signal: new AbortController().signal };

t.test('rows are read of keywords whose pages change or are not the target, in order of their days', async (t) => {
  const facts = factsOf([
    [
      ['KwBbb', 3, 2, 10],
      ['KwBbb', 4, 1, 10],
      ['KwCcc', 3, 5, 10],
    ],
    [
      ['KwAaa', 1, 1, 10],
      ['KwBbb', 1, 1, 10],
      ['KwBbb', 2, 1, 10],
      ['KwZzz', 1, 1, 10],
      ['KwZzz', 2, 2, 10],
    ],
  ]);
  const keywords = [keywordOf('KwAaa'), keywordOf('KwBbb'), keywordOf('KwCcc', 'https://a.example/')];
  const { rows, days } = await readPageRows(facts, query, keywords, new Set());
  t.same([...rows.starts], [0, 0, 4, 5]);
  t.same([...rows.days], [1, 2, 3, 4, 3]);
  t.same([...rows.pages], [1, 1, 2, 1, 5]);
  t.same([...rows.impressions], [10, 10, 10, 10, 10]);
  t.same(days, ['2026-06-02', '2026-06-03', '2026-06-04', '2026-06-05'], 'days of tracked keywords');
});

t.test('an open alert needs its rows to resolve, although nothing new can open', async (t) => {
  const facts = factsOf([[['KwAaa', 1, TARGET, 10]]]);
  const keywords = [keywordOf('KwAaa', 'https://a.example/')];
  t.same([...(await readPageRows(facts, query, keywords, new Set())).rows.days], []);
  t.same([...(await readPageRows(facts, query, keywords, new Set(['KwAaa']))).rows.days], [1]);
});
