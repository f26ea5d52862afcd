// Whole words of a brand are found in any case, with or without accents, by JavaScript and the provider alike.
import { RE2JS } from 're2js';
import t from 'tap';
import { type BrandTerm, brandTest, wordExpression } from '../../server/domain/brand-terms.ts';

const word = (text: string) => ({ text, match: 'word' }) as const;

t.test('whole words', async (t) => {
  for (const [term, query, isFound] of [
    ['acme', 'acme', true],
    ['acme', 'red acme shoes', true],
    ['acme', 'acme-shoes', true],
    ['acme', "acme's shoes", true],
    ['acme', 'acmeshoes', false],
    ['acme', 'notacme', false],
    ['acme', 'acme2', false],
    ['Café Órama', 'cafe orama berlin', true],
    ['cafe orama', 'café  órama', false],
    ['cafe', 'CAFÉ berlin', true],
    ['cafe', 'cafe\u0301 berlin', true],
    ['cafe', 'cafés', false],
    ['CAFÉ', 'café', true],
    ['münchen', 'munchen', true],
    ['straße', 'STRAẞE', true],
    ['ΑΚΜΗΣ', 'ακμής', true],
    ['ёлка', 'елка', true],
    ['İstanbul', 'istanbul', true],
    ['c++', 'learn c++ fast', true],
    ['c++', 'learn c fast', false],
    ['a.b', 'a.b', true],
    ['a.b', 'axb', false],
    ['24/7 [x]', 'open 24/7 [x]', true],
    ['アクメ', 'アクメ 靴', true],
    ['アクメ', 'アクメ靴', false],
  ] as const) {
    const text = query.toLowerCase();
    t.equal(brandTest([word(term)])(text), isFound, `${term} in ${query}`);
    t.equal(
      RE2JS.compile(wordExpression(word(term)))
        .matcher(text)
        .find(),
      isFound,
      `${term} in ${query} by RE2`,
    );
  }
});

t.test('texts count wherever they stand, beside whole words', async (t) => {
  const isBranded = brandTest(['ACME', word('zen'), word('b-c')] satisfies BrandTerm[]);
  t.strictSame(['acmeshoes', 'zen garden', 'b-c', 'zenith', 'acmé'].map(isBranded), [true, true, true, false, false]);
  t.equal(brandTest([])('acme'), false);
});
