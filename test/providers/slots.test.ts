// Slow provider work yields to other owners, and client requests go before background work.
import t from 'tap';
import { type Demand, Slots } from '../../server/providers/slots.ts';

/** Places with work that ends when it is told to. */
function scene(options: { all: number; perOwner: number; slow?: number; slowAfter?: number }) {
  const places = new Slots({ slow: 0, slowAfter: 1_000_000, ...options });
  const running = new Map<string, () => void>();
  const order: string[] = [];
  const displaced: string[] = [];
  const begin = (owner: string, name: string, demand: () => Demand = () => 'client') =>
    places.run(owner, demand, async (signal) => {
      order.push(name);
      await new Promise<void>((end, refuse) => {
        running.set(name, end);
        signal.addEventListener('abort', () => {
          displaced.push(name);
          refuse(signal.reason as Error);
        });
      });
      return name;
    });
  const end = async (name: string): Promise<void> => {
    // What has got a place begins in this turn of the event loop.
    await new Promise(setImmediate);
    running.get(name)?.();
    await new Promise(setImmediate);
  };
  return { places, order, displaced, begin, end };
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

t.test('slow work leaves its place to others', async (t) => {
  const { order, begin, end } = scene({ all: 1, perOwner: 1, slow: 2, slowAfter: 1 });
  for (const name of ['a', 'b', 'c']) void begin(name, name);
  while (order.length < 3) await new Promise((done) => setTimeout(done, 1));
  await new Promise((done) => setTimeout(done, 20));
  t.strictSame(order, ['a', 'b', 'c'], 'nobody waits: all go on');
  for (const name of ['a', 'b', 'c']) await end(name);
});

t.test(
  'where too much of it is slow, what has taken longest is aborted for those who wait, clients last',
  async (t) => {
    const { order, displaced, begin, end } = scene({ all: 1, perOwner: 1, slow: 2, slowAfter: 1 });
    const refused = [begin('a', 'a'), begin('b', 'b', () => 'background')].map((work) =>
      t.rejects(work, /Others waited/),
    );
    while (order.length < 2) await new Promise((done) => setTimeout(done, 1));
    const others = [begin('c', 'c'), begin('d', 'd')];
    while (order.length < 4) await new Promise((done) => setTimeout(done, 1));
    t.strictSame(displaced, ['b']);
    others.push(begin('c', 'c again'));
    await new Promise((done) => setTimeout(done, 20));
    t.strictSame(displaced, ['b'], 'nothing is aborted for whom it would not help');
    others.push(begin('e', 'e'));
    while (order.length < 5) await new Promise((done) => setTimeout(done, 1));
    t.strictSame(displaced, ['b', 'a']);
    await end('c');
    while (order.length < 6) await new Promise((done) => setTimeout(done, 1));
    t.strictSame(order, ['a', 'b', 'c', 'd', 'e', 'c again']);
    for (const name of ['d', 'e', 'c again']) await end(name);
    await Promise.all([...refused, ...others]);
  },
);

t.test('all that wait are refused at the end', async (t) => {
  const { places, begin } = scene({ all: 1, perOwner: 1 });
  void begin('a', 'a');
  const waiting = begin('b', 'b');
  const refused = t.rejects(waiting, /stopping/);
  places.clear(new Error('stopping'));
  await refused;
});
