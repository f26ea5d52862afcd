// Every parameter of every endpoint is refused by its name where it is empty, sent twice or malformed.
import t from 'tap';
import { facts, makeWorld, NOW } from '../world.ts';

// Which values are right is in test/fixtures/requests.txt.

let time = NOW;
const world = await makeWorld(
  t,
  {
    page_daily: facts('date url country', ['2026-03-01', 'https://shop.example/', 'usa', 1, 2, 3]),
    query_daily: facts('date query country', ['2026-03-01', 'shoes', 'usa', 1, 2, 3]),
  },
  { now: () => (time += 1000) },
);
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: { type?: string } }[];
}
const { paths } = (await world.app.inject('/openapi.json')).json<{ paths: Record<string, { get?: Operation }> }>();
/** What is any text. */
const TEXTS = ['group', 'pageGroup', 'keyword', 'note', 'page'];

t.test('wrong values of each parameter', async (t) => {
  const wrong: string[] = [];
  let count = 0;
  for (const [path, { get }] of Object.entries(paths))
    for (const { name, in: place, schema } of get?.parameters ?? []) {
      if (place !== 'query') continue;
      count++;
      const url = path.replace('/api/v1', '').replace('{id}', 'Proj1');
      const values = [`${name}=`, name];
      if (schema.type !== 'array') values.push(`${name}=1&${name}=1`);
      if (!TEXTS.includes(name)) values.push(`${name}=%zz`, `${name}=%20x`, `${name}=__proto__`, `${name}=constructor`);
      for (const value of values) {
        const { status, body } = await world.get(`${url}?${value}`);
        const { code, message } = (body.error ?? {}) as Record<string, string>;
        const isRefused = status === 400 && code === 'invalid_request' && new RegExp(`^${name}\\b`).test(message!);
        if (!isRefused) wrong.push(`${url}?${value}: ${status} ${message}`);
      }
    }
  t.strictSame(wrong, []);
  t.ok(count > 150, `${count} parameters`);
});

t.test('unknown parameters are ignored, names are case-sensitive', async (t) => {
  const unknown = 'unknown=1&unknown=2&Limit=0&DEVICE=x&key=&__proto__=1&constructor=2&%zz=1&from[]=x&=&&&period%20=x';
  for (const endpoint of ['keywords', 'site', 'breakdowns', 'groups', 'page-groups', 'alerts', 'notes'])
    t.strictSame((await world.ask(`/${endpoint}?${unknown}`)).body, (await world.ask(`/${endpoint}`)).body, endpoint);
});

t.test('the documented pattern of a period accepts exactly the valid periods', async (t) => {
  const { schema } = paths['/api/v1/projects/{id}/site']!.get!.parameters!.find(({ name }) => name === 'period')!;
  const pattern = new RegExp((schema as { pattern?: string }).pattern!);
  const counts = Array.from({ length: 5001 }, (_, count) => String(count));
  for (const [unit, most] of [
    ['d', 486],
    ['m', 16],
  ] as const)
    t.strictSame(
      [...counts, '00', '01', '0486', ''].filter((count) => pattern.test(count + unit)),
      counts.slice(1, most + 1),
    );
  t.notOk(pattern.test('1d\n'));
});
