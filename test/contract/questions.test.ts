// A question is answered exactly as the stored facts say, or refused: for random data and random questions.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { makeWorld } from '../world.ts';
import { type Question, QuestionOracle, Refused } from './question-oracle.ts';
import { randomQuestion, withGaps } from './random-question.ts';
import { CLOCK, randomWorld } from './random-world.ts';
import { PATIENT } from './untidy-world.ts';

const SEED = Number(process.env['ORDINATE_TEST_SEED'] ?? 1);
/** Hundreds of questions; 50 of them are 5,000. */
const RUNS = Number(process.env['ORDINATE_TEST_RUNS'] ?? 4);
const QUESTIONS = 100;
/** Questions per minute of the world's clock, below the rate limit of a key. */
const IN_A_MINUTE = 100;

type Body = Readonly<Record<string, unknown>>;

/** What the oracle says of a question. */
function expected(oracle: QuestionOracle, project: string, question: Question): unknown {
  try {
    return oracle.answer(project, question);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return 'refused';
  }
}

/** Sums of a row; reasons and ratios of a comparison have tests of their own. */
function sumsOf(answer: Body): Body {
  const { change, ...row } = Object.fromEntries(Object.entries(answer).filter(([name]) => name !== 'unsafe'));
  if (change === undefined) return row;
  if (change === null) return { ...row, difference: null };
  const differences = Object.entries(change as Record<string, { difference: number | null }>);
  return { ...row, difference: Object.fromEntries(differences.map(([name, { difference }]) => [name, difference])) };
}

function found({ status, body }: { status: number; body: Body }): unknown {
  if (status === 400) return 'refused';
  if (status !== 200) return { status, body };
  const { project: _project, range: _range, rows, totals, ...others } = body;
  return { ...others, rows: (rows as Body[]).map(sumsOf), totals: totals && sumsOf(totals as Body) };
}

/** Over all runs: one hundred may have few of one kind. */
const answers = { refused: 0, exact: 0 };

for (let run = 0; run < RUNS; run++) {
  t.test(`random questions, ${QUESTIONS} of a random world (${run + 1} of ${RUNS}, seed ${SEED})`, async (t) => {
    const seed = SEED * 1000 + run;
    // A few questions of each of many worlds would mostly measure loading.
    const [tables] = fc.sample(randomWorld, { seed: SEED * 1000 + Math.floor(run / 5), numRuns: 1 }).map(withGaps);
    let asked = 0;
    const now = () => CLOCK + Math.floor(asked / IN_A_MINUTE) * 60_000;
    const { get } = await makeWorld(t, tables!, { now, environment: PATIENT });
    const oracle = new QuestionOracle(tables!, 'acme', CLOCK);
    for (const [project, numRuns] of [
      ['Full1', 60],
      ['Few01', 35],
      ['Fresh', 5],
    ] as const) {
      for (const question of fc.sample(randomQuestion(tables!, project), { seed, numRuns })) {
        asked++;
        const path = `/projects/${project}/query?q=${encodeURIComponent(JSON.stringify(question))}`;
        const answer = await get(path);
        const right = expected(oracle, project, question);
        if (right === 'refused') answers.refused++;
        else answers.exact++;
        const is = found(answer);
        if (!isDeepStrictEqual(is, right)) {
          t.strictSame(is, right, `${project} ${JSON.stringify(question)} ${JSON.stringify(answer.body.error ?? '')}`);
          return;
        }
      }
    }
  });
}

t.test('the questions are of both kinds', async (t) => {
  t.ok(answers.exact > 25 * RUNS && answers.refused > 10 * RUNS, JSON.stringify(answers));
});
