// A process that has become idle returns memory to the system, once, and not again and again beside spikes of work.
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

t.test('the heap of young objects shrinks', (t) => {
  let kept: unknown[] = [];
  for (let index = 0; index < 300_000; index++) kept.push({ index });
  kept = [];
  const before = process.memoryUsage().heapTotal;
  t.ok(new IdleMemory().look(0));
  t.ok(process.memoryUsage().heapTotal < before);
  t.end();
});
