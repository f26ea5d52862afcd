// Every endpoint accepts the documented parameter values and rejects all others by name.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { createKey } from '../../server/catalog/keys.ts';
import { KnownError } from '../../server/domain/errors.ts';
import {
  choice,
  country,
  day,
  device,
  flag,
  group,
  type Parameter,
  paging,
  rangeParameters,
  readParameters,
  wholeNumber,
} from '../../server/reports/parameters.ts';
import { makeWorld, refusedFor } from '../world.ts';

const FACT = { project_id: 'Proj1', date: '2026-03-01', country: 'usa', clicks: 1, impressions: 2, sum_position: 3 };
const world = await makeWorld(t, {
  page_daily: [{ ...FACT, url: 'https://shop.example/' }],
  query_daily: [{ ...FACT, query: 'shoes' }],
});
const keys = await Promise.all(
  Array.from({ length: 5 }, (_, n) =>
    createKey(world.catalog, { workspace: 'acme', name: `key ${n}`, by: null, at: 0 }),
  ),
);
let asked = 0;
/** Sends requests with keys in turn, to stay below the rate limit of a key. */
const ask = (path: string) =>
  world.get(`/projects/Proj1${path}`, { authorization: `Bearer ${keys[asked++ % keys.length]!.key}` });

/** The parsed value of the parameter `name`, or the error message. */
function read(name: string, parameter: Parameter, text: unknown): unknown {
  try {
    return readParameters({ [name]: parameter }, { [name]: text })[name];
  } catch (error) {
    if (error instanceof KnownError && error.code === 'invalid_request') return `refused: ${error.message}`;
    throw error;
  }
}

function refuses(t: Test, name: string, parameter: Parameter, texts: readonly unknown[]): void {
  for (const text of texts) {
    t.match(read(name, parameter, text), new RegExp(`^refused: ${name}\\b`), `${name}=${JSON.stringify(text)}`);
  }
}

const TRICKS = ['', ' ', 'null', 'undefined', 'NaN', 'constructor', 'toString', '__proto__', 'hasOwnProperty', '\0'];
const LISTS = [['1', '1'], ['1', '2'], []];

t.test('whole numbers: plain decimal digits within bounds', async (t) => {
  const limit = wholeNumber({ minimum: 1, maximum: 5000 }, 1000, '');
  t.equal(read('limit', limit, '1'), 1);
  t.equal(read('limit', limit, '5000'), 5000);
  t.equal(read('limit', limit, undefined), 1000);
  refuses(t, 'limit', limit, [
    ...TRICKS,
    ...LISTS,
    ...[
      '0',
      '5001',
      '-1',
      '+5',
      ' 5',
      '5 ',
      '5\n',
      '10.5',
      '10.0',
      '1e3',
      '0x10',
      '1_000',
      '1,000',
      '٥',
      '５',
      'Infinity',
    ],
    '9'.repeat(400),
  ]);
  const { offset } = paging(1000, 5000);
  t.equal(read('offset', offset, '0'), 0);
  t.equal(read('offset', offset, '123456789'), 123_456_789);
  t.equal(read('offset', offset, undefined), 0);
  refuses(t, 'offset', offset, ['-1', '-0', '1.5', '']);
  fc.assert(
    fc.property(fc.integer({ min: -10, max: 6000 }), (number) => {
      const value = read('limit', limit, String(number));
      return number >= 1 && number <= 5000 ? value === number : String(value).startsWith('refused: limit ');
    }),
  );
});

t.test('days: real calendar days', async (t) => {
  const from = day('');
  for (const text of ['2026-03-01', '2024-02-29', '2000-02-29', '1999-12-31', '9999-12-31']) {
    t.equal(read('from', from, text), text);
  }
  t.equal(read('from', from, undefined), undefined);
  refuses(t, 'from', from, [
    ...TRICKS,
    ...LISTS,
    ...['2026-02-30', '2026-02-29', '1900-02-29', '2026-04-31', '2026-00-01', '2026-13-01', '2026-01-00', '2026-01-32'],
    ...['2026-3-1', '20260301', '2026/03/01', '01-03-2026', '2026-03', '2026', 'today', '-1d', '+002026-03-01'],
    ...['2026-03-01T00:00:00Z', '2026-03-01 ', ' 2026-03-01', '2026-03-01\n', '2026-03-01[u-ca=hebrew]', '２026-03-01'],
  ]);
});

t.test('choices: exactly one of the allowed values', async (t) => {
  const status = choice('AlertStatus', ['open', 'resolved', 'all'], 'all', '');
  t.equal(read('status', status, 'open'), 'open');
  t.equal(read('status', status, undefined), 'all');
  refuses(t, 'status', status, [...TRICKS, ...LISTS, 'Open', 'OPEN', 'open ', 'open,resolved', '0']);
  for (const word of ['all', 'desktop', 'mobile', 'tablet']) t.equal(read('device', device, word), word);
  refuses(t, 'device', device, [...TRICKS, 'MOBILE', 'phone']);
});

t.test('flags: 1, true, 0, false', async (t) => {
  const daily = flag('');
  for (const text of ['1', 'true']) t.equal(read('daily', daily, text), true);
  for (const text of ['0', 'false', undefined]) t.equal(read('daily', daily, text), false);
  refuses(t, 'daily', daily, [...TRICKS, ...LISTS, 'True', 'TRUE', 'yes', 'on', '2', '01', 'truee', 'valueOf']);
});

t.test('countries: three ASCII letters, in lower case', async (t) => {
  for (const text of ['usa', 'USA', 'uSa']) t.equal(read('country', country, text), 'usa');
  t.equal(read('country', country, undefined), undefined);
  refuses(t, 'country', country, [
    ...LISTS,
    '',
    '   ',
    '\0',
    '__proto__',
    'us',
    'usaa',
    'u5a',
    'us ',
    'uſa',
    'ÄÖÜ',
    'other',
    'usa\n',
  ]);
});

t.test('periods: days or calendar months', async (t) => {
  const { period } = rangeParameters;
  for (const text of ['1d', '486d', '1m', '16m']) t.equal(read('period', period, text), text);
  refuses(t, 'period', period, [
    ...TRICKS,
    ...LISTS,
    ...[
      '7',
      'd',
      '-1d',
      '+1d',
      '1.5d',
      '1D',
      '1M',
      '1w',
      '1y',
      '1 d',
      ' 1d',
      '1d ',
      '1d\n',
      '1dm',
      '1d1m',
      '１d',
      '1e1d',
    ],
  ]);
});

t.test('the documented pattern of a period accepts exactly the valid periods', async (t) => {
  const { period } = rangeParameters;
  const pattern = new RegExp(String((period.schema as { pattern?: string }).pattern));
  const counts = Array.from({ length: 5001 }, (_, count) => count);
  for (const [unit, most] of [
    ['d', 486],
    ['m', 16],
  ] as const) {
    const accepted = counts.filter((count) => pattern.test(`${count}${unit}`));
    t.strictSame(accepted, counts.slice(1, most + 1), unit);
  }
  for (const text of ['0d', '00d', '01d', '0486d', '01m', '1d\n', '', 'd']) t.notOk(pattern.test(text), text);
  for (const text of ['0d', '487d', '0m', '17m', '01d'])
    refusedFor(t, await ask(`/site?period=${text}`), 'period', text);
});

t.test('a group is any text that is sent once', async (t) => {
  t.equal(read('group', group, 'aB3dE'), 'aB3dE');
  refuses(t, 'group', group, ['', ...LISTS]);
});

t.test('a long value is truncated in the message', async (t) => {
  const message = String(read('limit', wholeNumber({ minimum: 1 }, 1, ''), 'x'.repeat(5000)));
  t.ok(message.length < 200, message);
});

/** Each endpoint with a valid value of each of its parameters. */
const RANGE = { from: '2026-03-01', to: '2026-03-02', period: '7d' };
const LIST = { ...RANGE, type: 'web', country: 'usa', limit: '1', offset: '0' };
const ENDPOINTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  keywords: { ...RANGE, device: 'mobile', daily: '1', group: 'aaaaa', limit: '1', offset: '0' },
  site: { ...RANGE, type: 'image', device: 'mobile', country: 'usa' },
  surfaces: RANGE,
  ai: { ...RANGE, by: 'page', limit: '1', offset: '0' },
  hours: { from: '2026-03-01', to: '2026-03-02' },
  breakdowns: { ...RANGE, type: 'image' },
  pages: LIST,
  queries: LIST,
  alerts: { status: 'open', since: '2026-03-01', limit: '1' },
  notes: { from: '2026-03-01', to: '2026-03-02', clientVisible: '1' },
};

t.test('every endpoint rejects a repeated or empty parameter by name', async (t) => {
  for (const [endpoint, parameters] of Object.entries(ENDPOINTS)) {
    for (const [name, right] of Object.entries(parameters)) {
      refusedFor(t, await ask(`/${endpoint}?${name}=`), name, `${endpoint}: ${name} empty`);
      refusedFor(t, await ask(`/${endpoint}?${name}`), name, `${endpoint}: ${name} bare`);
      refusedFor(t, await ask(`/${endpoint}?${name}=${right}&${name}=${right}`), name, `${endpoint}: ${name} twice`);
    }
  }
});

t.test('every endpoint rejects a malformed parameter by name', async (t) => {
  for (const [endpoint, parameters] of Object.entries(ENDPOINTS)) {
    for (const name of Object.keys(parameters).filter((each) => each !== 'group')) {
      refusedFor(t, await ask(`/${endpoint}?${name}=%20x`), name, `${endpoint}: ${name}`);
      refusedFor(t, await ask(`/${endpoint}?${name}=%zz`), name, `${endpoint}: ${name} undecodable`);
    }
  }
});

t.test('unknown parameters are ignored, names are case-sensitive', async (t) => {
  const unknown = 'unknown=1&unknown=2&Limit=0&DEVICE=x&key=&__proto__=1&constructor=2&%zz=1&from[]=x&=&&&period%20=x';
  for (const endpoint of ['keywords', 'site', 'breakdowns', 'groups', 'page-groups', 'alerts', 'notes']) {
    const answer = await ask(`/${endpoint}?${unknown}`);
    t.equal(answer.status, 200, `${endpoint}: ${JSON.stringify(answer.body)}`);
    t.strictSame(answer.body, (await ask(`/${endpoint}`)).body, endpoint);
  }
});

t.test('percent-encoded names and values are decoded', async (t) => {
  t.equal((await ask('/site?from=2026%2D03%2D01&%74o=2026-03-02')).body.range.to, '2026-03-02');
  // a plus is a space
  refusedFor(t, await ask('/keywords?limit=+5'), 'limit');
  refusedFor(t, await ask('/keywords?limit=%2B5'), 'limit');
});

t.test('days at the ends of the calendar', async (t) => {
  const statuses = async (query: string) =>
    Object.fromEntries(
      await Promise.all(
        Object.keys(ENDPOINTS).map(
          async (endpoint) => [endpoint, (await ask(`/${endpoint}?${query}`)).status] as const,
        ),
      ),
    );
  // before the plan's history of keywords
  const early = {
    keywords: 400,
    site: 200,
    surfaces: 200,
    ai: 200,
    breakdowns: 200,
    pages: 200,
    queries: 200,
    hours: 200,
    alerts: 200,
    notes: 200,
  };
  t.strictSame(await statuses('to=1000-01-01'), early);
  t.strictSame(await statuses('to=1000-01-01&period=486d'), early);
  // pages and queries end before today
  const late = { ...early, keywords: 200, pages: 400, queries: 400 };
  t.strictSame(await statuses('to=9999-12-31'), late);
  t.strictSame(await statuses('from=9999-12-31&to=9999-12-31'), late);
  t.equal((await ask('/alerts?since=1000-01-01')).status, 200);
  t.equal((await ask('/alerts?since=9999-12-31')).status, 200);
});
