import { Command } from 'commander';
import { fail, print } from '../../cli/cli.ts';
import type { Family } from '../../server/findings/finding.ts';
import { Random } from '../../test/random.ts';
import { judge } from './findings/judge.ts';
import { lostClicks, type Planted, plant } from './findings/plants.ts';
import { type RealWeeks, readRealWeeks, shuffled } from './findings/real-worlds.ts';
import { RULES } from './findings/rules.ts';
import { draw, generate, type Noise, SIZES, type Size, type World } from './findings/worlds.ts';

/**
 * Judges findings by worlds of which the truth is known, and prints two tables: what is found where nothing is, and
 * whether what was planted is found, with the gain inside of its interval. Both also for rules with fixed thresholds.
 * docs/research/findings.md has the tables.
 */
const program = new Command('findings:evidence')
  .option('--worlds <n>', 'null worlds of each size and source, and planted worlds of each kind', Number, 40)
  .option('--export <path>', 'a bulk export by URL (Parquet), whose weeks are put in another order')
  .option('--only <part>', 'null or planted');

interface Options {
  readonly worlds: number;
  readonly export?: string;
  readonly only?: string;
}

const Q = 0.1;
const TESTED: readonly Family[] = ['ctr', 'moves', 'decay', 'new', 'lost'];
/** What impressions of an export are multiplied by, so that its sizes are three. */
const SCALES: Readonly<Record<Size, number>> = { small: 3, medium: 30, large: 300 };
/** Demand that keeps some of the week before, in worlds that take turns. */
const DEMANDS: readonly Noise[] = [
  { deviation: 0.06, memory: 0, steps: true, moves: 0.05 },
  { deviation: 0.1, memory: 0.6, steps: true, moves: 0.05 },
  { deviation: 0.3, memory: 0.8, steps: true, moves: 0.05 },
];

async function run(): Promise<void> {
  const { worlds, export: path, only } = program.parse().opts<Options>();
  if (only !== 'planted') printNull(worlds, path === undefined ? null : await readRealWeeks(path));
  if (only !== 'null') printPlanted(worlds);
}

class Tally {
  worlds = 0;
  readonly families = new Map<Family, { tested: number; below: number; listed: number }>();
  readonly rules = new Map<string, number>();

  add(world: World): void {
    this.worlds++;
    const found = judge(world);
    for (const family of TESTED) {
      const judged = found.get(family) ?? [];
      this.#count(family, {
        tested: judged.length,
        below: judged.filter(({ p }) => p! < 0.05).length,
        listed: judged.filter(({ adjusted }) => adjusted <= Q).length,
      });
    }
    for (const { name, found: apply } of RULES) this.#countRule(name, apply(world).length);
  }

  join(other: Tally): void {
    this.worlds += other.worlds;
    for (const [family, counts] of other.families) this.#count(family, counts);
    for (const [name, found] of other.rules) this.#countRule(name, found);
  }

  #count(family: Family, { tested, below, listed }: { tested: number; below: number; listed: number }): void {
    const sums = this.families.get(family) ?? { tested: 0, below: 0, listed: 0 };
    this.families.set(family, {
      tested: sums.tested + tested,
      below: sums.below + below,
      listed: sums.listed + listed,
    });
  }

  #countRule(name: string, found: number): void {
    this.rules.set(name, (this.rules.get(name) ?? 0) + found);
  }

  row(name: string): string {
    const cells = TESTED.map((family) => {
      const { tested, below, listed } = this.families.get(family)!;
      const share = tested === 0 || family === 'new' || family === 'lost' ? '' : `, ${percent(below, tested)}`;
      return `${Math.round(tested / this.worlds)}${share}, ${(listed / this.worlds).toFixed(2)}`;
    });
    const all = TESTED.reduce((sum, family) => sum + this.families.get(family)!.listed, 0);
    return `| ${name} | ${this.worlds} | ${cells.join(' | ')} | ${(all / this.worlds).toFixed(2)} |`;
  }
}

function printNull(worlds: number, real: RealWeeks | null): void {
  print('\nNothing to find: rows tested, p under 0.05, findings a project\n');
  print('| worlds | n | CTR | moves | decay | new | lost | findings in all |');
  print('| --- | --- | --- | --- | --- | --- | --- | --- |');
  const total = new Tally();
  for (const source of real === null ? (['generated'] as const) : (['generated', 'real'] as const)) {
    for (const size of Object.keys(SIZES) as Size[]) {
      for (const differ of [0, 0.2]) {
        const tally = new Tally();
        for (let world = 0; world < worlds; world++) {
          const draws = new Random(`null ${source} ${size} ${differ} ${world}`);
          tally.add(
            source === 'real'
              ? realWorld(draws, real!, size, differ)
              : generatedWorld(draws, size, differ, DEMANDS[world % DEMANDS.length]!),
          );
        }
        print(tally.row(`${source}, ${size}, rows ${differ === 0 ? 'alike' : 'differ by 20 %'}`));
        total.join(tally);
      }
    }
  }
  print(total.row('all'));
  print('\n| rule of thumb | rows reported a project |\n| --- | --- |');
  for (const [name, found] of total.rules) print(`| ${name} | ${(found / total.worlds).toFixed(1)} |`);
}

function generatedWorld(draws: Random, size: Size, differ: number, noise: Noise): World {
  const [queries, pages] = SIZES[size];
  return {
    queries: draw(draws, generate(draws, queries, 400, noise), { differ, brand: 0.1 }),
    pages: draw(draws, generate(draws, pages, 1500, noise), { differ, brand: 0 }),
  };
}

function realWorld(draws: Random, real: RealWeeks, size: Size, differ: number): World {
  const [queries, pages] = shuffled(draws, real, SCALES[size]);
  return { queries: draw(draws, queries, { differ, brand: 0.05 }), pages: draw(draws, pages, { differ, brand: 0 }) };
}

/** Demand noise of 6 % a week; with a memory it wanders further. */
const PLANTED_DEMANDS = [0, 0.5].map((memory): Noise => ({ deviation: 0.06, memory, steps: true, moves: 0 }));
const PLANTS = [
  { name: 'CTR −40 %', family: 'ctr', type: 'low_ctr' },
  { name: 'demand × 2', family: 'moves', type: 'rising' },
  { name: 'position 4 to 8', family: 'moves', type: 'falling' },
  { name: 'page, −5 % a month for 26 weeks', family: 'decay', type: 'decaying_page' },
] as const;

function printPlanted(worlds: number): void {
  const columns = RULES.map(({ name }) => name.split(':')[0]!.slice(0, 40));
  print(
    '\nPlanted rows of 200 clicks a week: found as what they are; gain inside of its interval; rows found by rules\n',
  );
  print(`| planted | demand | size | rows | found | gain | other rows found | ${columns.join(' | ')} |`);
  print(`| --- | --- | --- | --- | --- | --- | --- |${' --- |'.repeat(columns.length)}`);
  for (const one of PLANTS) {
    for (const noise of PLANTED_DEMANDS) {
      for (const size of Object.keys(SIZES) as Size[]) {
        printPlant(one, noise, size, worlds);
      }
    }
  }
}

function printPlant({ name, family, type }: (typeof PLANTS)[number], noise: Noise, size: Size, worlds: number): void {
  let [rows, found, inside, others] = [0, 0, 0, 0];
  const byRule = RULES.map(() => 0);
  for (let at = 0; at < worlds; at++) {
    const { world, planted } = plantedWorld(
      new Random(`planted ${type} ${noise.memory} ${size} ${at}`),
      type,
      noise,
      size,
    );
    const judged = judge(world).get(family) ?? [];
    const listed = judged.filter(({ adjusted }) => adjusted <= Q);
    const isPlanted = ({ kind, row }: { kind: string; row: number }): boolean =>
      planted.some((one) => one.kind === kind && one.row === row);
    others += listed.filter((one) => !isPlanted(one)).length;
    const reported = RULES.map((rule) => new Set(rule.found(world)));
    for (const one of planted) {
      rows++;
      const own = listed.find(({ kind, row, type: found }) => kind === one.kind && row === one.row && found === type);
      if (own !== undefined) found++;
      if (own?.gain && own.gain.low <= one.gain && one.gain <= own.gain.high) inside++;
      for (const [rule, names] of reported.entries()) {
        if (names.has(`${one.kind === 'query' ? 'queries' : 'pages'} ${one.row}`)) byRule[rule]!++;
      }
    }
  }
  const gain = type === 'rising' ? '' : percent(inside, found);
  const cells = [name, noise.memory === 0 ? '6 %' : '6 %, memory', size, rows, percent(found, rows), gain];
  print(`| ${[...cells, (others / worlds).toFixed(2), ...byRule.map((count) => percent(count, rows))].join(' | ')} |`);
}

/** A world with few planted rows, which are under a tenth of the clicks. */
function plantedWorld(
  draws: Random,
  type: Planted['type'],
  noise: Noise,
  size: Size,
): { world: World; planted: readonly Planted[] } {
  const [queries, pages] = SIZES[size];
  const rows = size === 'small' ? 1 : 2;
  const shownQueries = generate(draws, queries, 1200, noise);
  const shownPages = generate(draws, pages, 3000, noise);
  const ofQueries = plant(draws, shownQueries, {
    kind: 'query',
    type,
    rows: type === 'decaying_page' ? 0 : rows,
    noise,
  });
  const ofPages = plant(draws, shownPages, { kind: 'page', type, rows, noise });
  const world = {
    queries: draw(draws, shownQueries, { differ: 0, brand: 0, factor: ofQueries.factor }),
    pages: draw(draws, shownPages, { differ: 0, brand: 0, factor: ofPages.factor }),
  };
  const gains = (shown: typeof shownPages) => (one: Omit<Planted, 'gain'>) => ({
    ...one,
    gain: lostClicks(one, shown),
  });
  return { world, planted: [...ofQueries.planted.map(gains(shownQueries)), ...ofPages.planted.map(gains(shownPages))] };
}

const percent = (part: number, whole: number): string => (whole === 0 ? '' : `${((100 * part) / whole).toFixed(1)} %`);

await run().catch(fail);
