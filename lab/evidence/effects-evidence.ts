import { Command } from 'commander';
import { fail, print } from '../../cli/cli.ts';
import { formatTable } from '../../cli/table.ts';
import { Random } from '../../test/random.ts';
import { type Asked, LENGTHS, METHODS } from './effects/methods.ts';
import { type GeneratedSite, generateSite, readSite, type Site } from './effects/sites.ts';

/**
 * Asks for the effects of changes that were not made (placebos) and of planted ones, and prints how often each method finds
 * them and how often its interval holds the planted effect. docs/research/effects.md has the tables.
 */
const program = new Command('effects:evidence')
  .option('--sites <n>', 'generated sites of each kind', Number, 60)
  .option('--questions <n>', 'questions to each site', Number, 24)
  .option('--export <path>', 'a bulk export by URL: placebo questions to its pages');

/** Clicks a day of the classes of pages, and the limits between them. */
const SIZES = [7, 20, 200, 2000];
const LIMITS = [5, 12, 60, 600, Number.POSITIVE_INFINITY];
const EFFECTS = [0, 0.2, 0.3, 0.5];
/** Days before the first question to a generated site, and to a real one, which has fewer. */
const FIRST_DAY = 200;
const FIRST_REAL_DAY = 100;

/** Questions that a method answered, found an effect for, and whose effect its interval holds. */
class Counts {
  asked = 0;
  answered = 0;
  found = 0;
  withInterval = 0;
  held = 0;
}

type Table = Map<string, Counts>;

function countsOf(table: Table, ...key: readonly (string | number)[]): Counts {
  const name = key.join('/');
  const counts = table.get(name) ?? new Counts();
  table.set(name, counts);
  return counts;
}

function ask(table: Table, asked: Asked, effect: number, size: number): void {
  for (const [name, method] of Object.entries(METHODS)) {
    const said = method(asked);
    for (const counts of [countsOf(table, name, effect, size), countsOf(table, name, effect, 'all')]) {
      counts.asked++;
      if (said === undefined) continue;
      counts.answered++;
      if (said.p < 0.05) counts.found++;
      if (said.interval === undefined) continue;
      counts.withInterval++;
      if (said.interval[0] <= effect && effect <= said.interval[1]) counts.held++;
    }
  }
}

/** The mean clicks a day before a day. */
function usual(page: Float64Array, day: number): number {
  return page.subarray(day - LENGTHS.before, day).reduce((sum, clicks) => sum + clicks, 0) / LENGTHS.before;
}

function lastDay({ days }: Site): number {
  return days - LENGTHS.settle - LENGTHS.after;
}

/** Asks about pages of a generated site on random days, with each planted effect. */
function askSite(table: Table, draws: Random, site: GeneratedSite, questions: number): void {
  for (let question = 0; question < questions; question++) {
    const index = Math.floor(draws.uniform(0, site.pages.length));
    const day = Math.floor(draws.uniform(FIRST_DAY, lastDay(site)));
    const page = site.pages[index]!;
    const size = SIZES[LIMITS.findIndex((limit) => usual(page, day) < limit) - 1];
    if (size === undefined) continue;
    const others = site.pages.filter((_, at) => at !== index);
    for (const effect of EFFECTS) {
      const more = site.means[index]!.map((mean, at) => (at < day ? 0 : draws.poisson(effect * mean)));
      ask(table, { page: page.map((clicks, at) => clicks + more[at]!), others, day }, effect, size);
    }
  }
}

/**
 * Asks about all pages of a real site with enough clicks, on days a week apart: nothing is known to have changed.
 * @param cut which days: 0 to 6 days after the first one, and so on
 */
function askReal(table: Table, site: Site, cut: number): void {
  for (const [index, page] of site.pages.entries()) {
    const others = site.pages.filter((_, at) => at !== index);
    for (let day = FIRST_REAL_DAY + cut; day <= lastDay(site); day += 7) {
      if (usual(page, day) * LENGTHS.before >= 30) ask(table, { page, others, day }, 0, 7);
    }
  }
}

const percent = (part: number, whole: number): string => (whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`);

function rowsOf(table: Table): object[] {
  return Object.keys(METHODS).map((method) => {
    const all = countsOf(table, method, 0, 'all');
    const shares = (effect: number): string =>
      SIZES.map((size) => countsOf(table, method, effect, size))
        .map(({ found, answered }) => (answered === 0 ? '-' : `${Math.round((100 * found) / answered)}`))
        .join(' / ');
    const planted = EFFECTS.map((effect) => countsOf(table, method, effect, 'all'));
    const sum = (name: 'held' | 'withInterval'): number => planted.reduce((total, counts) => total + counts[name], 0);
    return {
      method,
      questions: all.asked,
      answered: percent(all.answered, all.asked),
      'false alarms': percent(all.found, all.answered),
      ...Object.fromEntries(EFFECTS.slice(1).map((effect) => [`+${effect * 100} % found`, shares(effect)])),
      'interval holds': percent(sum('held'), sum('withInterval')),
    };
  });
}

/** The false alarms of a method in each cut, and in all of them. */
function realRow(method: string, cuts: readonly Table[]): object {
  const all = cuts.map((table) => countsOf(table, method, 0, 'all'));
  const sum = (name: 'asked' | 'answered' | 'found'): number => all.reduce((total, counts) => total + counts[name], 0);
  return {
    method,
    questions: sum('asked'),
    answered: percent(sum('answered'), sum('asked')),
    'false alarms': percent(sum('found'), sum('answered')),
    'of each cut': all.map(({ found, answered }) => ((100 * found) / answered).toFixed(1)).join(' / '),
  };
}

async function run(): Promise<void> {
  const options: { sites: number; questions: number; export?: string } = program.parse().opts();
  for (const wander of [0.1, 0.2]) {
    const table: Table = new Map();
    for (let site = 0; site < options.sites; site++) {
      const draws = new Random(`effects ${wander} ${site}`);
      askSite(table, draws, generateSite(draws, wander), options.questions);
    }
    print(`\nPages that wander by ${wander * 100} % (found in % of pages of ${SIZES.join(' / ')} clicks a day)`);
    print(formatTable(rowsOf(table)));
  }
  if (options.export === undefined) print('\nNo export was named (--export): skipped.');
  else {
    const site = await readSite(options.export);
    const cuts = Array.from({ length: 7 }, (_, cut): Table => {
      const table: Table = new Map();
      askReal(table, site, cut);
      return table;
    });
    print('\nThe export: days on which nothing is known to have changed, seven cuts of days a week apart');
    print(formatTable(Object.keys(METHODS).map((method) => realRow(method, cuts))));
  }
}

await run().catch(fail);
