// Every answer equals what the contract requires, for random data and random requests.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { makeWorld } from '../world.ts';
import { Oracle } from './oracle.ts';
import type { Expected } from './oracle-terms.ts';
import { CLOCK, PATIENT, randomRequest, randomWorld } from './random-world.ts';

/** A fixed seed gives the same worlds and requests in each run; the environment can set another one. */
const SEED = Number(process.env['ORDINATE_TEST_SEED'] ?? 1);
const WORLDS = 2;
const REQUESTS = 400;
/** Requests per minute of the world's clock, below the rate limit of a key. */
const IN_A_MINUTE = 100;

/** The answer in the form of an expectation, to compare with one. */
function asExpected(
  expected: Expected,
  { status, body }: { status: number; body: { error?: Record<string, string> } },
) {
  const { code, message = '' } = body.error ?? {};
  if ('body' in expected || code === undefined) return { status, body };
  const { named } = expected;
  const isNamed = named !== undefined && new RegExp(`\\b(${named})\\b`).test(message);
  return { status, code, ...(named === undefined ? {} : { named: isNamed ? named : message }) };
}

for (const [index, tables] of fc.sample(randomWorld, { seed: SEED, numRuns: WORLDS }).entries()) {
  t.test(`the answers of a random world follow the contract (${index + 1} of ${WORLDS}, seed ${SEED})`, async (t) => {
    let asked = 0;
    const now = () => CLOCK + Math.floor(asked / IN_A_MINUTE) * 60_000;
    // Also with DuckDB's work spread over threads.
    const { get } = await makeWorld(t, tables, { now, environment: { ...PATIENT, ORDINATE_THREADS: '2' } });
    const oracle = new Oracle(tables, 'acme', CLOCK);
    const answered = new Set<string>();
    const differences: { path: string; expected: Expected; found: unknown }[] = [];
    for (const path of fc.sample(randomRequest, { seed: SEED * WORLDS + index, numRuns: REQUESTS })) {
      asked++;
      const expected = oracle.answer(path);
      const answer = await get(path);
      const found = asExpected(expected, withoutFetchTime(answer));
      if (!isDeepStrictEqual(found, withoutFetchTime(expected))) differences.push({ path, expected, found });
      if (answer.status === 200) answered.add(path.split('?')[0]!.split('/')[3] ?? 'projects');
    }
    const [first] = differences;
    t.strictSame(first?.found, first?.expected, first?.path ?? `${REQUESTS} answers are those of the oracle`);
    t.strictSame(
      differences.slice(1).map(({ path }) => path),
      [],
      'no other answer differs',
    );
    t.equal(answered.size, 10, 'every endpoint has answered');
  });
}

/** Lists have the time of their fetch, by a real clock. */
function withoutFetchTime<T>(answer: T): T {
  return JSON.parse(JSON.stringify(answer), (name, value: unknown) => (name === 'fetchedAt' ? 'then' : value)) as T;
}
