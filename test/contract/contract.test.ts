// Every answer is that of the contract, in every format and tool, for untidy worlds and random requests.
import t from 'tap';
import { Random } from '../random.ts';
import { makeWorld } from '../world.ts';
import { asked, called, decided, difference, differenceOf } from './ask.ts';
import { Oracle } from './oracle.ts';
import { ENDPOINTS, randomRequest, wayOf } from './random-request.ts';
import { randomCall, TOOL_NAMES, toolAnswer } from './tools.ts';
import { CLOCK, PATIENT, untidyWorld } from './untidy-world.ts';

/** A fixed seed gives the same worlds and requests in each run; the environment can set another one, and more requests. */
const SEED = Number(process.env['ORDINATE_TEST_SEED'] ?? 1);
const WORLDS = 2;
const REQUESTS = 300 * Number(process.env['ORDINATE_TEST_RUNS'] ?? 1);
/** Requests per minute of the world's clock, below the rate limit of a key. */
const IN_A_MINUTE = 100;

for (let index = 0; index < WORLDS; index++) {
  t.test(`the answers of an untidy world follow the contract (${index + 1} of ${WORLDS}, seed ${SEED})`, async (t) => {
    const dice = new Random(`world ${index} of ${SEED}`);
    const tables = untidyWorld(dice);
    let count = 0;
    const now = () => CLOCK + Math.floor(count / IN_A_MINUTE) * 60_000;
    // Also with DuckDB's work spread over threads.
    const { app, key } = await makeWorld(t, tables, { now, environment: { ...PATIENT, ORDINATE_THREADS: '2' } });
    const headers = { authorization: `Bearer ${key}` };
    const oracle = new Oracle(tables, 'acme', CLOCK);
    const answered = new Set<string>();
    const differences: { path: string; difference: unknown }[] = [];
    for (; count < REQUESTS; count++) {
      if (dice.once(5)) {
        const { name, sent } = randomCall(dice);
        const expected = toolAnswer(oracle, { name, sent });
        const right = decided('body' in expected ? expected : { status: 0, code: expected.code });
        const differs = difference([decided(await called(app, name, sent, headers))], [right]);
        if (differs !== undefined) differences.push({ path: `${name} ${JSON.stringify(sent)}`, difference: differs });
        if ('body' in expected) answered.add(name);
        continue;
      }
      const path = randomRequest(dice);
      const expected = oracle.answer(path);
      const { url, ...more } = wayOf(dice, path);
      const sent = await asked(app, url, { ...headers, ...more });
      const differs = await differenceOf(path, expected, sent);
      if (differs !== undefined) differences.push({ path, difference: differs });
      if (sent.statusCode === 200) answered.add(path.split('?')[0]!.split('/').at(-1)!);
    }
    t.strictSame(differences[0], undefined, `${REQUESTS} answers are those of the model`);
    t.strictSame(
      differences.slice(1).map(({ path }) => path),
      [],
      'no other answer differs',
    );
    for (const name of [...Object.keys(ENDPOINTS), ...TOOL_NAMES]) t.ok(answered.has(name), `${name} has answered`);
  });
}
