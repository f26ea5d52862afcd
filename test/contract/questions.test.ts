// A question is answered exactly as the stored facts say, or refused: for random data and random questions.
import t from 'tap';
import { Random } from '../random.ts';
import { makeWorld } from '../world.ts';
import { asked, differenceOf } from './ask.ts';
import { Oracle } from './oracle.ts';
import { randomQuestion, withGaps } from './random-question.ts';
import { CLOCK, PATIENT, untidyWorld } from './untidy-world.ts';

const SEED = Number(process.env['ORDINATE_TEST_SEED'] ?? 1);
/** Hundreds of questions; 50 of them are 5,000. */
const RUNS = Number(process.env['ORDINATE_TEST_RUNS'] ?? 4);
const QUESTIONS = 100;
/** Questions per minute of the world's clock, below the rate limit of a key. */
const IN_A_MINUTE = 100;

/** Over all runs: one hundred may have few of one kind. */
const answers = { refused: 0, exact: 0 };

for (let run = 0; run < RUNS; run++) {
  t.test(`random questions, ${QUESTIONS} of an untidy world (${run + 1} of ${RUNS}, seed ${SEED})`, async (t) => {
    // A few questions of each of many worlds would mostly measure loading.
    const tables = withGaps(untidyWorld(new Random(`questions ${Math.floor(run / 4)} of ${SEED}`)));
    const dice = new Random(`questions of run ${run} of ${SEED}`);
    let count = 0;
    const now = () => CLOCK + Math.floor(count / IN_A_MINUTE) * 60_000;
    const { app, key } = await makeWorld(t, tables, { now, environment: PATIENT });
    const oracle = new Oracle(tables, 'acme', CLOCK);
    for (; count < QUESTIONS; count++) {
      const project = dice.pick(['Full1', 'Full1', 'Full1', 'Twin1', 'Few01', 'Few01', 'One01', 'Fresh']);
      const question = randomQuestion(dice, tables, project);
      const path = `/projects/${project}/query?q=${encodeURIComponent(JSON.stringify(question))}`;
      const expected = oracle.answer(path);
      answers['body' in expected ? 'exact' : 'refused']++;
      const answer = await asked(app, path, { authorization: `Bearer ${key}` });
      const differs = await differenceOf(path, expected, answer);
      if (differs !== undefined) {
        t.strictSame(differs, undefined, `${project} ${JSON.stringify(question)} ${answer.body.slice(0, 300)}`);
        return;
      }
    }
  });
}

t.test('the questions are of both kinds', async (t) => {
  t.ok(answers.exact > 25 * RUNS && answers.refused > 10 * RUNS, JSON.stringify(answers));
});
