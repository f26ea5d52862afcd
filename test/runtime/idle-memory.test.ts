// A process that has become idle returns memory to the system, once, and not again and again beside spikes of work.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { IdleMemory } from '../../server/runtime/idle-memory.ts';

t.test('when memory is returned', (t) => {
  let times = 0;
  const memory = new IdleMemory(() => times++);
  const look = (utilization: number, looks = 1): number => {
    for (let index = 0; index < looks; index++) memory.look(utilization);
    return times;
  };
  t.equal(look(0.8), 0, 'it starts');
  t.equal(look(0.001), 1);
  t.equal(look(0.001, 1000), 1, 'nothing new');
  t.equal(look(0.5, 3), 1, 'busy');
  t.equal(look(0.01), 2);
  look(0.5);
  t.equal(look(0), 2, 'a spike right after it');
  t.equal(look(0, 60), 3, 'ten minutes later');
  t.end();
});

t.test('the heap of young objects shrinks', async (t) => {
  // In a thread, whose heap is small: collecting that of all tests takes seconds.
  const program = `
    const { IdleMemory } = await import(${JSON.stringify(new URL('../../server/runtime/idle-memory.ts', import.meta.url))});
    let kept = [];
    for (let index = 0; index < 300_000; index++) kept.push({ index });
    kept = [];
    const before = process.memoryUsage().heapTotal;
    const returned = new IdleMemory().look(0);
    const { parentPort } = await import('node:worker_threads');
    parentPort.postMessage({ returned, shrinks: process.memoryUsage().heapTotal < before });`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`));
  const [message] = (await once(worker, 'message')) as unknown[];
  t.strictSame(message, { returned: true, shrinks: true });
});
