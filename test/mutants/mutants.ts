// npm run mutants: puts single faults into a copy of the code, one at a time, and says which ones no test notices.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { ALONE, ROOT, TEXTS, testFiles } from '../runners/files.ts';
import { lineOf, type Mutant, plant, readCatalogue } from './catalogue.ts';
import { forgetLines, keepLines, knownLines, readCoverage, type TestLines, testsOfLine } from './line-map.ts';
import { Workspace } from './workspace.ts';

/** What became of a fault when it was last tried. */
interface Outcome {
  /** The test that fell, with its first failed line; missing if none did. */
  readonly by?: string;
  readonly line?: string;
}

/** Test files of a process: it ends with the first failure, and its memory grows with each. */
const BATCH = 25;
const OUTCOMES = join(ROOT, 'node_modules/.cache/mutants/outcomes.json');
const TABLE = join(ROOT, 'CONTRIBUTING.md');

const whole = (text: string): number => {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
};

const command = new Command('mutants')
  .description('Puts single faults into a copy of the code, one at a time, and says which ones no test notices.')
  .argument('[rooms...]', 'files of test/mutants/catalogue; all by default')
  .option('--promise <text>', 'only faults whose promise or file contains this text')
  .option('--survivors', 'only faults that no test noticed when they were last tried')
  .option('--jobs <number>', 'faults at a time', whole, availableParallelism())
  .option('--seconds <number>', 'give up on a fault when the tests tried take longer than this together', whole)
  .option('--map', 'look again at which tests run which lines')
  .option('--check', 'only see whether each fault can still be planted')
  .option('--write', 'write the table of CONTRIBUTING.md')
  .parse();
const options = command.opts<{
  promise?: string;
  survivors?: boolean;
  jobs: number;
  seconds?: number;
  map?: boolean;
  check?: boolean;
  write?: boolean;
}>();

const idOf = ({ file, find, replace }: Mutant): string =>
  createHash('sha256')
    .update(JSON.stringify([file, find, replace]))
    .digest('hex')
    .slice(0, 16);

function readOutcomes(): Record<string, Outcome> {
  try {
    return JSON.parse(readFileSync(OUTCOMES, 'utf8')) as Record<string, Outcome>;
  } catch {
    return {};
  }
}

const outcomes = readOutcomes();
const catalogue = readCatalogue(command.args);
for (const mutant of catalogue) plant(mutant, readFileSync(join(ROOT, mutant.file), 'utf8'));
// By their digests, so that the first hundred are of all rooms.
const shuffled = catalogue.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
const mutants = shuffled.filter((mutant) => {
  const { promise = '' } = options;
  const isMeant = mutant.promise.includes(promise) || mutant.file.includes(promise);
  const known = outcomes[idOf(mutant)];
  return isMeant && !(options.survivors === true && (known === undefined || known.by !== undefined));
});
console.log(`${mutants.length} faults`);

/** Calls `work` for each item, with one of the workspaces. */
async function eachIn<T>(items: readonly T[], work: (item: T, workspace: Workspace) => Promise<void>): Promise<void> {
  const left = [...items];
  const lanes = Array.from({ length: Math.min(options.jobs, items.length) }, async () => {
    const workspace = new Workspace();
    try {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item, workspace);
    } finally {
      workspace.remove();
    }
  });
  await Promise.all(lanes);
}

async function lookAt(test: string, workspace: Workspace): Promise<TestLines> {
  const coverage = mkdtempSync(join(tmpdir(), 'ordinate-coverage-'));
  let begun = performance.now();
  // Of functions that come from the cache of compiled code, coverage may say that they never ran.
  let ended = await workspace.run([test], { NODE_V8_COVERAGE: coverage, NODE_DISABLE_COMPILE_CACHE: '1' });
  const lines = readCoverage(coverage, workspace.folder);
  rmSync(coverage, { recursive: true, force: true });
  if (!ended.passes) {
    // Coverage takes memory and time, of which some tests have little.
    begun = performance.now();
    ended = await workspace.run([test]);
  }
  const time = Math.round(performance.now() - begun);
  if (!ended.passes) console.log(`without any fault: ${test} fails: ${ended.failed?.line}`);
  return keepLines(test, { time, passes: ended.passes, lines });
}

async function mapLines(): Promise<TestLines[]> {
  if (options.map === true) forgetLines();
  const all = [...testFiles(), ...TEXTS];
  const found = all.map(knownLines);
  const missing = all.filter((_, index) => found[index] === undefined);
  if (missing.length > 0)
    console.log(
      `${missing.length} test files run alone first, to learn which lines each of them runs: some seconds a file`,
    );
  await eachIn(missing, async (test, workspace) => void found.push(await lookAt(test, workspace)));
  return found.filter((one) => one !== undefined);
}

/** They run the bundled page, of whose lines V8 tells nothing. */
const OF_PAGE = ['screens', 'typed', 'dialogues'].map((name) => `test/dashboard/${name}.test.ts`);

/** The tests that run a line of a file. */
function testsOf({ file }: Mutant, line: number, map: readonly TestLines[]): TestLines[] {
  if (!file.startsWith('server/dashboard/client/')) return testsOfLine(map, file, line);
  const own = map.filter(({ lines }) => lines[file] !== undefined);
  return [...new Set([...own, ...map.filter(({ test }) => OF_PAGE.includes(test))])];
}

/** The folder below `test/` or `server/`. */
const areaOf = (path: string): string | undefined => path.split('/')[1];

/** The tests that could notice a fault, those first that are most likely to. */
function candidatesOf(mutant: Mutant, map: readonly TestLines[]): TestLines[] {
  const text = readFileSync(join(ROOT, mutant.file), 'utf8');
  const earlier = new Set(
    catalogue.filter(({ file }) => file === mutant.file).map((other) => outcomes[idOf(other)]?.by),
  );
  const own = outcomes[idOf(mutant)]?.by;
  const rankOf = ({ test }: TestLines): number => {
    if (test === own) return 0;
    if (earlier.has(test)) return 1;
    if (areaOf(test) === areaOf(mutant.file)) return 2;
    return /^test\/(?:contract|routes|dashboard\/dialogues)\b/.test(test) ? 3 : 4;
  };
  return testsOf(mutant, lineOf(mutant, text), map)
    .filter(({ passes }) => passes)
    .map((lines) => ({ lines, rank: rankOf(lines) }))
    .sort((a, b) => a.rank - b.rank || a.lines.time - b.lines.time)
    .map(({ lines }) => lines);
}

async function tryTests(mutant: Mutant, workspace: Workspace, map: readonly TestLines[]): Promise<Outcome> {
  const candidates = candidatesOf(mutant, map);
  let budget = (options.seconds ?? Number.POSITIVE_INFINITY) * 1000;
  const batches: string[][] = [];
  let open: string[] = [];
  for (const [index, { test, time }] of candidates.entries()) {
    budget -= time;
    if (budget < 0 && index > 0) break;
    // These fail in a process that other tests have used.
    if (ALONE.includes(test)) batches.push([test]);
    else if (open.push(test) === 1) batches.push(open);
    if (open.length === BATCH) open = [];
  }
  const browser = mutant.tests.filter((test) => test.startsWith('browser/'));
  if (browser.length > 0) batches.push(browser);
  for (const batch of batches) {
    const { failed } = await workspace.run(batch);
    if (failed !== undefined) return { by: failed.test, line: failed.line };
  }
  return {};
}

async function tryMutant(mutant: Mutant, workspace: Workspace, map: readonly TestLines[]): Promise<Outcome> {
  const text = workspace.read(mutant.file);
  workspace.write(mutant.file, plant(mutant, text));
  try {
    return await tryTests(mutant, workspace, map);
  } finally {
    workspace.write(mutant.file, text);
  }
}

/** Noticed and all faults by room, of those that have been tried. */
function scores(): Map<string, { noticed: number; all: number }> {
  const rooms = new Map<string, { noticed: number; all: number }>();
  for (const mutant of readCatalogue([])) {
    const outcome = outcomes[idOf(mutant)];
    if (outcome === undefined) continue;
    const { noticed, all } = rooms.get(mutant.room) ?? { noticed: 0, all: 0 };
    rooms.set(mutant.room, { noticed: noticed + (outcome.by === undefined ? 0 : 1), all: all + 1 });
  }
  const sums = [...rooms.values()];
  const sum = (key: 'noticed' | 'all'): number => sums.reduce((total, room) => total + room[key], 0);
  return rooms.set('all rooms', { noticed: sum('noticed'), all: sum('all') });
}

function writeTable(): void {
  const rows = [...scores()].map(
    ([room, { noticed, all }]) => `| ${room} | ${noticed} of ${all} | ${Math.floor((100 * noticed) / all)} % |`,
  );
  const [tried, all] = [scores().get('all rooms')!.all, readCatalogue([]).length];
  const table = ['| room | noticed | share |', '| --- | --- | --- |', ...rows].join('\n');
  const left = tried < all ? `\n\n${all - tried} of ${all} faults have not been tried.` : '';
  const [begin, end] = ['<!-- scores of mutants -->', '<!-- end of scores -->'];
  const text = readFileSync(TABLE, 'utf8');
  const [before, after] = [text.indexOf(begin), text.indexOf(end)];
  if (before < 0 || after < before) throw new Error(`CONTRIBUTING.md lacks '${begin}' and '${end}'.`);
  writeFileSync(TABLE, `${text.slice(0, before + begin.length)}\n\n${table}${left}\n\n${text.slice(after)}`);
}

if (options.check === true) process.exit(0);
// At the exit, running tests are stopped and their copies removed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => process.exit(128 + constants.signals[signal]));
if (mutants.length > 0) {
  const map = await mapLines();
  let done = 0;
  await eachIn(mutants, async (mutant, workspace) => {
    const begun = performance.now();
    const outcome = await tryMutant(mutant, workspace, map);
    outcomes[idOf(mutant)] = outcome;
    mkdirSync(dirname(OUTCOMES), { recursive: true });
    writeFileSync(OUTCOMES, JSON.stringify(outcomes));
    const seconds = ((performance.now() - begun) / 1000).toFixed(0).padStart(4);
    const { by, line } = outcome;
    const end = by === undefined ? 'SURVIVES' : `noticed   ${by}: ${line}`;
    console.log(
      `${++done} of ${mutants.length} ${seconds} s  ${mutant.room}: ${mutant.promise}\n    ${mutant.file}  ${end}`,
    );
  });
}
for (const [room, { noticed, all }] of scores()) console.log(`${room.padEnd(12)} ${noticed} of ${all}`);
if (options.write === true) writeTable();
