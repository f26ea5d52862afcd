// Where nothing is to be found little is found, and what was planted is found with its gain.
import t from 'tap';
import { judge } from '../../lab/evidence/findings/judge.ts';
import { lostClicks, plant } from '../../lab/evidence/findings/plants.ts';
import { draw, generate, type Noise } from '../../lab/evidence/findings/worlds.ts';
import { Random } from '../random.ts';

const NOISE: Noise = { deviation: 0.06, memory: 0, steps: true, moves: 0 };
const WORLDS = 8;
const [QUERIES, PAGES] = [120, 40];

t.test('of rows that differ and move by chance, few have a small p and next to none is listed', async (t) => {
  const seen = { ctr: [0, 0, 0], moves: [0, 0, 0], decay: [0, 0, 0] };
  for (let world = 0; world < WORLDS; world++) {
    const draws = new Random(`test null ${world}`);
    const noise = { ...NOISE, deviation: 0.15, memory: 0.6, moves: 0.05 };
    const found = judge({
      queries: draw(draws, generate(draws, QUERIES, 400, noise), { differ: 0.2, brand: 0.1 }),
      pages: draw(draws, generate(draws, PAGES, 1500, noise), { differ: 0.2, brand: 0 }),
    });
    for (const [family, sums] of Object.entries(seen)) {
      for (const { p, adjusted } of found.get(family as keyof typeof seen) ?? []) {
        sums[0]!++;
        if (p! < 0.05) sums[1]!++;
        if (adjusted <= 0.1) sums[2]!++;
      }
    }
  }
  for (const [family, [tested, below, listed]] of Object.entries(seen)) {
    t.ok(tested! > 200, `${family}: ${tested} tested`);
    t.ok(below! / tested! < 0.07, `${family}: ${below} of ${tested} have a p under 0.05`);
    t.ok(listed! <= 2, `${family}: ${listed} listed in ${WORLDS} worlds`);
  }
});

for (const [type, family] of [
  ['low_ctr', 'ctr'],
  ['rising', 'moves'],
  ['falling', 'moves'],
  ['decaying_page', 'decay'],
] as const) {
  t.test(`planted rows are found: ${type}`, async (t) => {
    let [planted, found, inside, gains] = [0, 0, 0, 0];
    for (let world = 0; world < WORLDS; world++) {
      const draws = new Random(`test ${type} ${world}`);
      const shown = generate(draws, PAGES, 3000, NOISE);
      const { factor, planted: rows } = plant(draws, shown, { kind: 'page', type, rows: 2, noise: NOISE });
      const queries = draw(draws, generate(draws, 20, 400, NOISE), { differ: 0, brand: 0 });
      const judged = judge({ queries, pages: draw(draws, shown, { differ: 0, brand: 0, factor }) }).get(family) ?? [];
      for (const one of rows) {
        planted++;
        const own = judged.find(({ kind, row, adjusted }) => kind === 'page' && row === one.row && adjusted <= 0.1);
        if (own?.type !== type) continue;
        found++;
        if (own.gain === null) continue;
        gains++;
        const gain = lostClicks(one, shown);
        if (own.gain.low <= gain && gain <= own.gain.high) inside++;
      }
    }
    t.ok(found >= (type === 'decaying_page' ? 0.7 : 0.9) * planted, `${found} of ${planted}`);
    t.ok(inside >= 0.8 * gains, `${inside} of ${gains} gains inside of their interval`);
    t.equal(gains, type === 'rising' ? 0 : found);
  });
}
