// Long computations let other requests run between their steps.
import { StatementSync } from 'node:sqlite';
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RE2JS } from 're2js';
import t, { type Test } from 'tap';
import { TrackedKeywordsCache, type TrackedRead } from '../../server/catalog/keywords.ts';
import { ExpressionCheck, markFound, SMALL_COST } from '../../server/domain/expressions.ts';
import { inTurns } from '../../server/runtime/turns.ts';
import { methodOf } from '../methods.ts';
import { keyword, makeWorld, type Tables } from '../world.ts';

/** Max steps before other work runs. */
const MAX_STEPS = 1000;
const KEYWORDS = 3500;

const rule = (...conditions: readonly object[]) => ({ match: 'any', conditions });
const TABLES: Tables = {
  keywords: Array.from({ length: KEYWORDS }, (_, at) =>
    keyword(`K${1000 + at}`, `query ${at} ${at % 7 === 0 ? 'Red' : 'blue'}`),
  ),
  groups: [
    {
      project_id: 'Proj1',
      id: 'Rule1',
      name: 'a',
      kind: 'rule',
      position: 1,
      rule: rule({ field: 'query', op: 'matches', value: '\\bred$' }, { field: 'clicks', op: 'gt', value: 0 }),
    },
    { project_id: 'Proj1', id: 'Manu1', name: 'b', kind: 'manual', position: 2 },
  ],
  group_members: Array.from({ length: KEYWORDS }, (_, at) => ({
    project_id: 'Proj1',
    group_id: 'Manu1',
    keyword_id: `K${1000 + at}`,
  })),
};

const world = await makeWorld(t, TABLES);

/** The max number of steps that `work` takes within one turn of the event loop. It calls its argument for each step. */
async function stepsInTurn(work: (step: () => void) => Promise<unknown>): Promise<number> {
  let most = 0;
  let steps = 0;
  let isOver = false;
  const turning = (async () => {
    while (!isOver) {
      await nextTurn();
      steps = 0;
    }
  })();
  await work(() => {
    most = Math.max(most, ++steps);
  });
  isOver = true;
  await turning;
  return most;
}

t.test('other work runs between the steps of long work; the result is that of the generator', async (t) => {
  function* steps(count: number, step: () => void): Generator<void, string> {
    for (let at = 0; at < count; at++) {
      step();
      yield;
    }
    return 'done';
  }
  const most = await stepsInTurn(async (step) => t.equal(await inTurns(steps(5 * MAX_STEPS, step)), 'done'));
  t.ok(most > 0 && most <= MAX_STEPS, `${most} steps in a turn`);
  t.equal(await inTurns(steps(0, () => {})), 'done');
  const together = await stepsInTurn((step) =>
    Promise.all(Array.from({ length: 20 }, () => inTurns(steps(MAX_STEPS / 2, step)))),
  );
  t.ok(together <= MAX_STEPS, `${together} steps in a turn, of all work together`);
  const failing = function* (): Generator<void, void> {
    yield;
    throw new Error('failed');
  };
  await t.rejects(inTurns(failing()), { message: 'failed' });
});

/** As large as is accepted, and slow: each character of such texts makes hundreds of states. */
const WORST = { text: '(?:[ab]*a[ab]{15}){53}[yz]|z$', ignoresCase: true };
const TEXTS = Array.from({ length: 120 }, (_, at) => `${letters(at)}${at % 50 === 0 ? 'z' : 'y'}`);
const WITH_Z = TEXTS.map((text) => Number(text.endsWith('z')));
const search = (texts: readonly string[], expression = WORST) =>
  markFound(expression, texts.length, (at) => texts[at]!);

/** A hundred letters that differ by the seed. */
function letters(seed: number): string {
  let state = seed;
  return Array.from({ length: 100 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state & 0x10000 ? 'a' : 'b';
  }).join('');
}

t.test('the worst expression is found in threads, and only what is small beside other requests', async (t) => {
  t.equal(new ExpressionCheck().problemOf(WORST), undefined);
  t.type(new ExpressionCheck().problemOf({ ...WORST, text: '(?:[ab]*a[ab]{15}){60}[yz]|z$' }), 'string');
  let characters = 0;
  let found: Uint8Array | undefined;
  const most = await stepsInTurn(async (step) => {
    const test = methodOf(RE2JS.prototype, 'test');
    t.intercept(RE2JS.prototype, 'test', {
      value(this: RE2JS, text: string) {
        characters += text.length + 1;
        for (let at = 0; at <= text.length; at++) step();
        return test.call(this, text);
      },
    });
    found = await inTurns(search(TEXTS));
  });
  t.strictSame([...found!], WITH_Z);
  // A small search may be longer by the text that it begins with.
  t.ok(most <= SMALL_COST / 900 + 102, `${most} characters in a turn`);
  t.ok(characters <= 102 * 20, `${characters} characters in this thread`);
});

t.test('small searches do not wait for long ones, and those that nobody waits for end', async (t) => {
  const order: string[] = [];
  const client = new AbortController();
  const long = inTurns(search(Array<string[]>(50).fill(TEXTS).flat()), client.signal);
  const other = inTurns(search(TEXTS)).then(() => order.push('other'));
  await inTurns(search(['a', 'b'], { ...WORST, text: 'b' })).then(() => order.push('small'));
  client.abort(new Error('gone'));
  await t.rejects(long, { message: 'gone' });
  await other;
  t.strictSame(order, ['small', 'other']);
  await t.rejects(inTurns(search(TEXTS), client.signal), { message: 'gone' });
});

t.test('a thread that finds no end is replaced', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  // Groups of earlier releases may have such expressions.
  const endless = inTurns(search(['ab'.repeat(30_000)], { ...WORST, text: `(?:${'a?b?'.repeat(500)}){900}z` }));
  const failed = t.rejects(endless, { code: 'unavailable', message: /takes too long; use one with smaller counts/ });
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  mock.timers.tick(10_000);
  await failed;
  t.strictSame([...(await inTurns(search(TEXTS)))], WITH_Z);
});

async function readAll(tracked: TrackedKeywordsCache): Promise<TrackedRead> {
  const read = await tracked.read('acme', 'Proj1', (found) => found);
  if (read === undefined) throw new Error('there is the project');
  return read;
}

/** Counts the rows that are read one by one from any catalog. */
function countRows(t: Test, step: () => void): void {
  const iterate = methodOf(StatementSync.prototype, 'iterate');
  t.intercept(StatementSync.prototype, 'iterate', {
    value: function* (this: StatementSync, ...parameters: Parameters<typeof iterate>): Iterable<unknown> {
      for (const row of iterate.apply(this, parameters)) {
        step();
        yield row;
      }
    },
  });
}

t.test('tracked keywords are read once for all callers, in small steps', async (t) => {
  const tracked = new TrackedKeywordsCache(world.catalog);
  let rows = 0;
  const most = await stepsInTurn((step) => {
    countRows(t, () => {
      rows++;
      step();
    });
    return Promise.all(Array.from({ length: 12 }, () => readAll(tracked)));
  });
  t.equal(rows, 2 * KEYWORDS, 'each keyword and each member once');
  t.ok(most <= MAX_STEPS, `${most} rows in a turn`);
  const { tracked: read } = await readAll(tracked);
  t.equal(rows, 2 * KEYWORDS, 'and not again');
  t.equal(read.keywords.length, KEYWORDS);
  t.ok(read.keywords.every(({ index }, at) => index === at));
  t.equal(await tracked.read('other', 'Proj1', (found) => found), undefined, 'another workspace has no such project');
  await world.load({ keywords: [keyword('K1000', 'another query')] });
  t.equal((await readAll(tracked)).tracked.idByQuery.get('another query'), 'K1000', 'a change is read');
  t.equal((await tracked.read('acme', 'Proj1', ({ project }) => project))?.trackedKeywords, KEYWORDS);
});

t.test('groups are matched once, in small steps', async (t) => {
  const cache = new TrackedKeywordsCache(world.catalog);
  const { tracked } = await readAll(cache);
  let looked = 0;
  const most = await stepsInTurn((step) => {
    const keywords = tracked.keywords.map((each) => ({
      ...each,
      get query() {
        looked++;
        step();
        return each.query;
      },
    }));
    return Promise.all([1, 2].map(() => cache.matches({ ...tracked, keywords }, tracked.groups)));
  });
  t.equal(looked, KEYWORDS, 'the expression looks at each keyword once');
  t.ok(most <= MAX_STEPS, `${most} keywords in a turn`);
});

t.test('a load publishes some rows at a time', async (t) => {
  const write = methodOf(StatementSync.prototype, 'run');
  let written = 0;
  const most = await stepsInTurn((step) => {
    t.intercept(StatementSync.prototype, 'run', {
      value(this: StatementSync, ...parameters: Parameters<typeof write>) {
        written++;
        step();
        return write.apply(this, parameters);
      },
    });
    return world.load(
      { ...TABLES, keywords: TABLES['keywords']!.slice(0, 100), group_members: TABLES['group_members']!.slice(0, 100) },
      { replace: true },
    );
  });
  t.ok(written > 2 * (KEYWORDS - 100), `${written} rows are removed or written`);
  t.ok(most <= MAX_STEPS, `${most} of them in a turn`);
});
