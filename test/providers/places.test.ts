import t from 'tap';
import { type Demand, Places } from '../../server/providers/places.ts';

/** Places with work that ends when it is told to. */
function scene(options: { all: number; perOwner: number; slow?: number; slowAfter?: number }) {
  const places = new Places({ slow: 0, slowAfter: 1_000_000, ...options });
  const running = new Map<string, () => void>();
  const order: string[] = [];
  const begin = (owner: string, name: string, demand: () => Demand = () => 'client') =>
    places.run(owner, demand, async () => {
      order.push(name);
      await new Promise<void>((end) => running.set(name, end));
      return name;
    });
  const end = async (name: string): Promise<void> => {
    // What has got a place begins in this turn of the event loop.
    await new Promise(setImmediate);
    running.get(name)?.();
    await new Promise(setImmediate);
  };
  return { places, order, begin, end };
}

t.test('so many in all and of each owner; the owner with the fewest goes first', async (t) => {
  const { order, begin, end } = scene({ all: 3, perOwner: 2 });
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) void begin(name[0]!, name);
  await new Promise(setImmediate);
  t.strictSame(order, ['a1', 'a2', 'b1']);
  await end('a1');
  t.strictSame(order.slice(3), ['c1'], 'who has none goes before who came first');
  await end('b1');
  t.strictSame(order.slice(4), ['b2']);
  await end('b2');
  t.strictSame(order.slice(5), ['a3']);
});

t.test('clients before background work, and nothing for nobody', async (t) => {
  const { order, begin, end } = scene({ all: 1, perOwner: 1 });
  const demand: Record<string, Demand> = { left: 'client' };
  void begin('a', 'first');
  void begin('b', 'background', () => 'background');
  const left = begin('c', 'left', () => demand['left']!);
  void begin('d', 'client');
  demand['left'] = 'nobody';
  const refused = t.rejects(left, /No caller is waiting/);
  await end('first');
  await refused;
  t.strictSame(order, ['first', 'client']);
  await end('client');
  t.strictSame(order, ['first', 'client', 'background']);
});

t.test('slow work leaves its place, as long as there is room for slow work', async (t) => {
  const { order, begin, end } = scene({ all: 1, perOwner: 1, slow: 2, slowAfter: 1 });
  for (const name of ['a', 'b', 'c', 'd']) void begin(name, name);
  while (order.length < 3) await new Promise((done) => setTimeout(done, 1));
  await new Promise((done) => setTimeout(done, 20));
  t.strictSame(order, ['a', 'b', 'c'], 'two are slow, one has the place');
  await end('a');
  while (order.length < 4) await new Promise((done) => setTimeout(done, 1));
  t.strictSame(order, ['a', 'b', 'c', 'd']);
  for (const name of ['b', 'c', 'd']) await end(name);
});

t.test('all that wait are refused at the end', async (t) => {
  const { places, begin } = scene({ all: 1, perOwner: 1 });
  void begin('a', 'a');
  const waiting = begin('b', 'b');
  const refused = t.rejects(waiting, /stopping/);
  places.clear(new Error('stopping'));
  await refused;
});
