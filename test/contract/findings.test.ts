// Findings equal those of docs/decisions/findings.md, number by number, for random sites and random questions.
import t from 'tap';
import { makeWorld, type Row } from '../world.ts';
import { nearDifference } from './ask.ts';
import { Dice } from './dice.ts';
import { findingsQuestion, findingsWorld } from './findings-world.ts';
import { Oracle } from './oracle.ts';
import { DAY } from './oracle-terms.ts';
import { PATIENT } from './untidy-world.ts';

/** A fixed seed gives the same worlds and questions in each run; the environment can set others, and more worlds. */
const SEED = Number(process.env['ORDINATE_TEST_SEED'] ?? 1);
const WORLDS = 2 * Number(process.env['ORDINATE_TEST_RUNS'] ?? 1);
const QUESTIONS = 25;

/** The shares by which tests differ beyond their last digits, which are those of other ways to add up. */
const NEARLY = 2e-5;

const isNear = (found: number, expected: number, path: string): boolean | undefined =>
  /\.(p|adjusted)$/.test(path) ? Math.abs(found - expected) <= NEARLY * Math.max(found, expected) : undefined;

/** An answer without its texts and its quality. */
function decided(body: Row): unknown {
  const { error, quality: _, findings, ...rest } = body as Row & { findings: Row[]; error?: Row };
  return error === undefined
    ? { ...rest, findings: findings.map(({ text: __, ...one }) => one) }
    : { code: error['code'] };
}

t.test(`findings of ${WORLDS} sites follow the contract (seed ${SEED})`, async (t) => {
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  for (let index = 0; index < WORLDS; index++) {
    const dice = new Dice(SEED * 1000 + index);
    const { tables, last } = findingsWorld(dice);
    const clock = (last + 1) * DAY + DAY / 2;
    const { get } = await makeWorld(t, tables, { now: () => clock, environment: PATIENT });
    const oracle = new Oracle(tables, 'acme', clock);
    for (let asked = 0; asked < QUESTIONS; asked++) {
      const path = findingsQuestion(dice, last);
      const expected = oracle.answer(path);
      const { status, body } = await get(path);
      const wanted = 'body' in expected ? expected.body : { code: expected.code };
      const differs =
        status === expected.status
          ? nearDifference(decided(body as Row), wanted, isNear)
          : `${status}, not ${expected.status}`;
      if (differs !== null) t.fail(`world ${index} of seed ${SEED}: ${path}: ${differs}`);
      const { findings = [], tested = {} } = body as {
        findings?: { type: string }[];
        tested?: Record<string, { reason?: string }>;
      };
      count(String(status));
      for (const { type } of findings) count(type);
      for (const { reason = 'tested' } of Object.values(tested)) count(reason);
    }
  }
  t.ok(counts.get('200')! > 10 * WORLDS, `${[...counts].map(([what, times]) => `${what} ${times}`).join(', ')}`);
});
