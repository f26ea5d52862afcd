// Reading ahead prepares one result at a time, in order, and reports failures where they belong.
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { readAhead } from '../../server/runtime/promises.ts';

t.test('one result is read ahead, and no more', async (t) => {
  const started: string[] = [];
  const results = readAhead(['a', 'b', 'c', 'd'], async (item, index) => {
    started.push(item);
    return `${index}${item}`;
  });
  t.strictSame(started, [], 'nothing before the first is asked for');
  t.equal((await results.next()).value, '0a');
  await setImmediate();
  t.strictSame(started, ['a', 'b']);
  t.equal((await results.next()).value, '1b');
  await setImmediate();
  t.strictSame(started, ['a', 'b', 'c']);
  t.strictSame(await Array.fromAsync(results), ['2c', '3d']);
});

t.test('a failure comes in its place, and ends all', async (t) => {
  const started: number[] = [];
  const results = readAhead([1, 2, 3], async (item) => {
    started.push(item);
    if (item === 2) throw new Error('no second one');
    return item;
  });
  t.equal((await results.next()).value, 1);
  await setImmediate();
  await t.rejects(results.next(), { message: 'no second one' });
  t.strictSame(started, [1, 2]);
  t.strictSame(await results.next(), { done: true, value: undefined });
});

t.test('a failure of what was read ahead is nobody’s when the consumer stops', async (t) => {
  const results = readAhead([1, 2], async (item) => {
    if (item === 2) throw new Error('not wanted any more');
    return item;
  });
  await results.next();
  await results.return();
  // An unhandled rejection would end the process here.
  await setImmediate();
  t.strictSame(await results.next(), { done: true, value: undefined });
});

t.test('no items have no results', async (t) => {
  t.strictSame(await Array.fromAsync(readAhead([], async () => 1)), []);
});
