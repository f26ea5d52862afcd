// Findings equal those of docs/decisions/findings.md, number by number, for random sites and random questions.
import t from 'tap';
import { Random } from '../random.ts';
import { makeWorld, type Row } from '../world.ts';
import { asked, differenceOf } from './ask.ts';
import { findingsQuestion, findingsWorld } from './findings-world.ts';
import { Oracle } from './oracle.ts';
import { DAY, number } from './oracle-terms.ts';
import { PATIENT } from './untidy-world.ts';

/** A fixed seed gives the same worlds and questions in each run; the environment can set others, and more worlds. */
const SEED = Number(process.env['ORDINATE_TEST_SEED'] ?? 1);
const WORLDS = 2 * Number(process.env['ORDINATE_TEST_RUNS'] ?? 1);
const QUESTIONS = 22;
const AGAIN = 6;

const half = (row: Row): Row => {
  const impressions = Math.ceil(Number(row['impressions']) / 2);
  const clicks = Math.min(impressions, Math.floor(Number(row['clicks']) / 2));
  return { ...row, impressions, clicks };
};

t.test(`findings of ${WORLDS} sites follow the contract (seed ${SEED})`, async (t) => {
  const counts = new Map<string, number>();
  const note = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  for (let index = 0; index < WORLDS; index++) {
    const dice = new Random(`world ${index} of ${SEED}`);
    const { tables: first, last } = findingsWorld(dice);
    let tables = first;
    const clock = (last + 1) * DAY + DAY / 2;
    const { app, key, load } = await makeWorld(t, tables, { now: () => clock, environment: PATIENT });
    let oracle = new Oracle(tables, 'acme', clock);
    const paths = Array.from({ length: QUESTIONS }, () => findingsQuestion(dice, last));
    for (const [count, path] of [...paths, ...paths.slice(0, AGAIN)].entries()) {
      if (count === QUESTIONS) {
        // The same questions about days that were loaded again, with half of the impressions and clicks.
        const halved = tables['query_daily']!.filter(({ date }) => number(String(date)) > last - 20).map(half);
        await load({ query_daily: halved });
        const kept = tables['query_daily']!.filter(({ date }) => number(String(date)) <= last - 20);
        tables = { ...tables, query_daily: [...kept, ...halved] };
        oracle = new Oracle(tables, 'acme', clock);
      }
      const answer = await asked(app, path, { authorization: `Bearer ${key}` });
      const differs = await differenceOf(path, oracle.answer(path), answer);
      if (differs !== undefined) t.fail(`world ${index} of seed ${SEED}: ${path}: ${JSON.stringify(differs)}`);
      const body = JSON.parse(answer.body) as unknown;
      const { findings = [], tested = {} } = body as {
        findings?: { type: string }[];
        tested?: Record<string, { reason?: string }>;
      };
      note(String(answer.statusCode));
      for (const { type } of findings) note(type);
      for (const { reason = 'tested' } of Object.values(tested)) note(reason);
    }
  }
  t.ok(counts.get('200')! > 10 * WORLDS, `${[...counts].map(([what, times]) => `${what} ${times}`).join(', ')}`);
});
