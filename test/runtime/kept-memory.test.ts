// Memory that was kept is lent to what needs about as much.
import t from 'tap';
import { keepMemory, returnMemory, takeMemory } from '../../server/runtime/external-memory.ts';

t.test('small answers leave large memory to large ones', async (t) => {
  // Files share a process: what an earlier one kept must not be lent here.
  returnMemory();
  const large = new ArrayBuffer(6_000_000);
  keepMemory(large);
  t.equal(takeMemory(14_000).byteLength, 14_000, 'a slow client would hold it');
  t.equal(takeMemory(4_000_000), large);
  t.not(takeMemory(4_000_000), large, 'once');
});

t.test('little is kept, and nothing by an idle process', async (t) => {
  returnMemory();
  const all = Array.from({ length: 5 }, () => new ArrayBuffer(6_000_000));
  for (const memory of all) keepMemory(memory);
  const again = all.filter(() => all.includes(takeMemory(6_000_000)));
  t.equal(again.length, 3);
  keepMemory(all[0]!);
  returnMemory();
  t.notOk(all.includes(takeMemory(6_000_000)));
});
