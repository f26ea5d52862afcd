// A property is recognised however it is written, and an ambiguous one is rejected with suggestions.
import fc from 'fast-check';
import t from 'tap';
import { domainOf, isOfDomain, matchProperty } from '../../server/domain/properties.ts';

const READABLE = ['sc-domain:shop.example', 'https://blog.example/', 'http://old.example/', 'https://old.example/'];

t.test('a property means itself, however it is pasted', (t) => {
  for (const [text, property] of [
    ['sc-domain:shop.example', 'sc-domain:shop.example'],
    ['SC-DOMAIN:Shop.Example', 'sc-domain:shop.example'],
    ['shop.example', 'sc-domain:shop.example'],
    ['SHOP.example/', 'sc-domain:shop.example'],
    [' http://shop.example ', 'sc-domain:shop.example'],
    ['https://blog.example/', 'https://blog.example/'],
    ['https://blog.example', 'https://blog.example/'],
    ['http://blog.example', 'https://blog.example/'],
    ['HTTPS://BLOG.EXAMPLE/', 'https://blog.example/'],
    ['blog.example', 'https://blog.example/'],
    ['http://old.example', 'http://old.example/'],
    ['https://OLD.example', 'https://old.example/'],
  ] as const) {
    t.equal(matchProperty(text, READABLE).property, property, text);
  }
  const paths = ['https://shop.example/de/', 'https://shop.example/'];
  t.equal(matchProperty('https://shop.example/DE', paths).property, 'https://shop.example/de/');
  t.equal(matchProperty('shop.example/de', paths).property, 'https://shop.example/de/');
  t.end();
});

t.test('what is in doubt or cannot be read is not taken; the most similar properties are named', (t) => {
  for (const [text, similar] of [
    ['old.example', ['http://old.example/', 'https://old.example/']],
    ['https://shop.example/', ['sc-domain:shop.example']],
    ['http://blog.example/', ['https://blog.example/']],
    ['sc-domain:blog.example', ['https://blog.example/']],
    ['SC-DOMAIN:BLOG.example', ['https://blog.example/']],
    ['https://www.shop.example/', ['sc-domain:shop.example']],
    ['www.blog.example', ['https://blog.example/']],
    ['sc-domain:shpo.example', ['sc-domain:shop.example']],
  ] as const) {
    const match = matchProperty(text, READABLE);
    t.equal(match.property, undefined, text);
    t.strictSame(match.similar.slice(0, similar.length), similar, text);
  }
  t.strictSame(matchProperty('shop.example', []), { property: undefined, similar: [] });
  t.strictSame(matchProperty('two words', READABLE), { property: undefined, similar: [] });
  t.end();
});

t.test('nothing but a readable property is ever taken', (t) => {
  const property = fc.constantFrom(
    ...READABLE,
    'shop.example',
    'https://shop.example',
    '',
    ' ',
    'sc-domain:',
    'ftp://a/',
  );
  fc.assert(
    fc.property(fc.oneof(fc.string(), property), fc.subarray(READABLE), (text, readable) => {
      const { property: found, similar } = matchProperty(text, readable);
      return (found === undefined || readable.includes(found)) && similar.every((one) => readable.includes(one));
    }),
  );
  t.end();
});

t.test('the domain of a property', (t) => {
  t.equal(domainOf('sc-domain:shop.example'), 'shop.example');
  t.equal(domainOf('https://www.shop.example:8080/de/'), 'www.shop.example');
  for (const text of ['shop.example', 'https://shop.example', 'sc-domain:', 'ftp://shop.example/']) {
    t.equal(domainOf(text), undefined, text);
  }
  t.end();
});

t.test('addresses of the domain of a property', (t) => {
  for (const property of ['sc-domain:shop.example', 'https://www.shop.example/', 'http://shop.example:8080/en/'])
    for (const [address, is] of [
      ['https://shop.example/', true],
      ['http://www.Shop.Example/boots?a=b', true],
      ['https://en.shop.example:8443/x', true],
      ['https://notshop.example/', false],
      ['https://shop.example.evil.example/', false],
      ['https://shop.example@evil.example/', false],
      ['ftp://shop.example/', false],
      ['shop.example', false],
    ] as const)
      t.equal(isOfDomain(address, property), is, `${address} of ${property}`);
  t.ok(isOfDomain('https://xn--mller-kva.de/', 'sc-domain:müller.de'));
  t.end();
});
