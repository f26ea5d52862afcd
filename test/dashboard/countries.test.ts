// Every country is shown by its name: all codes of three letters that ISO 3166 knows, and those of the search engine.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { countryName } from '../../server/dashboard/client/lib/format.ts';

/** Reserved, of unions, of parts, former: ISO 3166-1 has none of them today. */
const NO_COUNTRIES = 'AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC NH QO RH SU TA TP UK UN VD XA XB YD YU ZR ZZ'.split(
  ' ',
);

t.test('names of countries', (t) => {
  const source = readFileSync('server/dashboard/client/lib/format.ts', 'utf8');
  const codes = [...source.matchAll(/\b([a-z]{3})([A-Z]{2})\b/g)].map(([, three, two]) => ({
    three: three!,
    two: two!,
  }));
  const names = new Intl.DisplayNames(['en'], { type: 'region' });
  const regions = Array.from({ length: 26 * 26 }, (_, at) =>
    String.fromCharCode(65 + Math.floor(at / 26), 65 + (at % 26)),
  );
  const known = regions.filter((code) => names.of(code) !== code && !NO_COUNTRIES.includes(code));
  const missing = known.filter((code) => !codes.some(({ two }) => two === code));
  t.strictSame(missing, [], 'no country is left out');
  t.equal(new Set(codes.map(({ three }) => three)).size, codes.length);
  for (const { three, two } of codes) t.equal(countryName(three), names.of(two), three);
  t.equal(countryName('zzz'), 'Unknown');
  t.equal(countryName('qqq'), 'QQQ', 'one that nobody knows keeps its letters');
  t.end();
});
