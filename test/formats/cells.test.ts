// Every type of column in every format keeps its nulls, repeated cells, quotes, alphabets and largest numbers.
import t from 'tap';
import { ROW_FORMATS } from '../../server/formats/formats.ts';
import { facts, keyword, makeWorld, type Row } from '../world.ts';
import { bounds, readArrow, readParquet } from './read.ts';

const uuid = (at: number) => `5e1f0000-0000-4000-8000-00000000000${at}`;
/** Texts in a row, some of them twice; their order by bytes is not that of UTF-16. */
const TEXTS = ['=1', '=1', '+1', '-1', '@a', '\tb', '\rc', 'a "b", c', 'a "b", c', 'd\r\ne', '\uff21 ü', '🥾', ' x '];
/** Null between equal ones, and the other way round. */
const PAGES = ['/a', null, '/a', '/a', null, null, '=/b', '/a', '/a', '/c,d', '/c,d', '/c,d', null];
const notes = TEXTS.map((text, at) => ({
  id: uuid(at % 10).replace('5e1f', at < 10 ? '5e1f' : '5e20'),
  workspace_id: 'acme',
  project_id: 'Proj1',
  scope: PAGES[at] === null ? 'project' : 'page',
  page: PAGES[at],
  date: at === 0 ? '1969-12-31' : '2026-03-01',
  end_date: at % 2 === 0 ? null : '2026-03-02',
  category: 'content',
  text,
  client_visible: at % 3 === 0,
  author: 'Ann',
  created_at: `2026-03-02T10:00:00.${at + 100}Z`,
  updated_at: at === 0 ? '1969-12-31T23:59:59.999Z' : '2026-03-02T10:00:00Z',
}));
/** Numbers of keywords: about the largest of 32 bits and the largest exact ones, without impressions, whole ratios. */
const NUMBERS: readonly (readonly [clicks: number, impressions: number, sumPosition: number])[] = [
  [0, 0, 0],
  [2 ** 31 - 1, 2 ** 31, 2 ** 31],
  [2 ** 31, 2 ** 31, 0],
  [1, 3, 2 ** 32 + 1],
  [1, 2 ** 48, 2 ** 48 - 1],
];
const GROUPS = [['Aaaaa', 'Bbbbb', 'Ccccc'], [], ['Bbbbb'], ['Bbbbb'], []];
const world = await makeWorld(t, {
  notes,
  keywords: NUMBERS.map((_, at) =>
    keyword(`Kw00${at}`, `q${at}`, { tracked_since: `2025-01-0${5 - at}T00:00:00.00${at}Z` }),
  ),
  groups: ['Ccccc', 'Aaaaa', 'Bbbbb'].map((id, position) => ({
    project_id: 'Proj1',
    id,
    name: id,
    kind: 'manual',
    position,
  })),
  group_members: GROUPS.flatMap((groups, at) =>
    groups.map((group_id): Row => ({ project_id: 'Proj1', group_id, keyword_id: `Kw00${at}` })),
  ),
  keyword_daily: facts(
    'keyword_id date device',
    ...NUMBERS.slice(1).map((numbers, at) => [`Kw00${at + 1}`, '2026-03-05', 'mobile', ...numbers]),
  ),
});

async function bytes(path: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${world.key}` };
  const { statusCode, rawPayload } = await world.app.inject({ url: `/api/v1/projects/Proj1/${path}`, headers });
  if (statusCode !== 200) throw new Error(rawPayload.toString());
  return rawPayload;
}

const NOTE_TYPES = {
  id: ['Utf8', 'VARCHAR'],
  scope: ['Utf8', 'VARCHAR'],
  date: ['Date32<DAY>', 'DATE'],
  endDate: ['Date32<DAY>', 'DATE'],
  category: ['Utf8', 'VARCHAR'],
  text: ['Utf8', 'VARCHAR'],
  clientVisible: ['Bool', 'BOOLEAN'],
  author: ['Utf8', 'VARCHAR'],
  group_id: ['Utf8', 'VARCHAR'],
  group_name: ['Utf8', 'VARCHAR'],
  keyword_id: ['Utf8', 'VARCHAR'],
  keyword_query: ['Utf8', 'VARCHAR'],
  page: ['Utf8', 'VARCHAR'],
  createdAt: ['Timestamp<MILLISECOND, UTC>', 'TIMESTAMP WITH TIME ZONE'],
  updatedAt: ['Timestamp<MILLISECOND, UTC>', 'TIMESTAMP WITH TIME ZONE'],
};
const KEYWORD_TYPES = {
  id: ['Utf8', 'VARCHAR'],
  query: ['Utf8', 'VARCHAR'],
  source: ['Utf8', 'VARCHAR'],
  trackedSince: ['Timestamp<MILLISECOND, UTC>', 'TIMESTAMP WITH TIME ZONE'],
  intent: ['Utf8', 'VARCHAR'],
  groupIds: ['List<Utf8>', 'VARCHAR[]'],
  clicks: ['Int64', 'BIGINT'],
  impressions: ['Int64', 'BIGINT'],
  ctr: ['Float64', 'DOUBLE'],
  position: ['Float64', 'DOUBLE'],
  sum_position: ['Int64', 'BIGINT'],
};

const noteRows = notes.map((note) => ({
  id: note.id,
  scope: note.scope,
  date: note.date,
  endDate: note.end_date,
  category: 'content',
  text: note.text,
  clientVisible: note.client_visible,
  author: 'Ann',
  group_id: null,
  group_name: null,
  keyword_id: null,
  keyword_query: null,
  page: note.page,
  createdAt: note.created_at,
  updatedAt: note.updated_at.replace(/00Z$/, '00.000Z'),
}));
const RATIOS = [
  [null, null],
  [1, 2],
  [1, 1],
  [0.3333, 1431655766.7],
  [0, 2],
] as const;
const keywordRows = NUMBERS.map(([clicks, impressions, sum_position], at) => ({
  id: `Kw00${at}`,
  query: `q${at}`,
  source: 'import',
  trackedSince: `2025-01-0${5 - at}T00:00:00.00${at}Z`,
  intent: 'unclassified',
  groupIds: GROUPS[at],
  clicks,
  impressions,
  ctr: RATIOS[at]![0],
  position: RATIOS[at]![1],
  sum_position,
}));

for (const [path, rows, types] of [
  ['notes', noteRows, NOTE_TYPES],
  ['keywords', keywordRows, KEYWORD_TYPES],
] as const) {
  t.test(`${path}: exact types keep every cell`, async (t) => {
    const arrow = readArrow(await bytes(`${path}.arrow?`));
    t.strictSame(arrow, {
      rows,
      types: Object.fromEntries(Object.entries(types).map(([name, [type]]) => [name, type])),
    });
    const parquet = await readParquet(await bytes(`${path}.parquet`));
    t.strictSame(parquet, {
      rows,
      types: Object.fromEntries(Object.entries(types).map(([name, [, type]]) => [name, type])),
    });
  });
}

t.test('notes: quotes where CSV needs them, and an apostrophe before what a spreadsheet would execute', async (t) => {
  const texts = [
    ...["'=1", "'=1", "'+1", "'-1", "'@a", "'\tb", `"'\rc"`, '"a ""b"", c"', '"a ""b"", c"', '"d\r\ne"'],
    ...['\uff21 ü', '🥾', ' x '],
  ];
  const pages = ['/a', '', '/a', '/a', '', '', "'=/b", '/a', '/a', '"/c,d"', '"/c,d"', '"/c,d"', ''];
  const lines = noteRows.map(({ id, scope, date, endDate, clientVisible, createdAt, updatedAt }, at) =>
    [
      id,
      scope,
      date,
      endDate ?? '',
      'content',
      texts[at],
      clientVisible,
      'Ann,,,,',
      pages[at],
      createdAt,
      updatedAt,
    ].join(),
  );
  const head = Object.keys(NOTE_TYPES).join();
  t.equal((await bytes('notes.csv')).toString(), [head, ...lines, ''].join('\r\n'));
  t.equal((await bytes('notes.ndjson')).toString(), noteRows.map((row) => `${JSON.stringify(row)}\n`).join(''));
});

t.test('keywords: averages have a decimal point in text, other numbers have none', async (t) => {
  t.equal(
    (await bytes('keywords.csv')).toString().replaceAll('\r', ''),
    `id,query,source,trackedSince,intent,groupIds,clicks,impressions,ctr,position
Kw000,q0,import,2025-01-05T00:00:00.000Z,unclassified,Aaaaa Bbbbb Ccccc,0,0,,
Kw001,q1,import,2025-01-04T00:00:00.001Z,unclassified,,2147483647,2147483648,1.0,2.0
Kw002,q2,import,2025-01-03T00:00:00.002Z,unclassified,Bbbbb,2147483648,2147483648,1.0,1.0
Kw003,q3,import,2025-01-02T00:00:00.003Z,unclassified,Bbbbb,1,3,0.3333,1431655766.7
Kw004,q4,import,2025-01-01T00:00:00.004Z,unclassified,,1,281474976710656,0.0,2.0
`,
  );
  t.equal(
    (await bytes('keywords.ndjson')).toString(),
    `{"id":"Kw000","query":"q0","source":"import","trackedSince":"2025-01-05T00:00:00.000Z","intent":"unclassified","groupIds":["Aaaaa","Bbbbb","Ccccc"],"clicks":0,"impressions":0,"ctr":null,"position":null}
{"id":"Kw001","query":"q1","source":"import","trackedSince":"2025-01-04T00:00:00.001Z","intent":"unclassified","groupIds":[],"clicks":2147483647,"impressions":2147483648,"ctr":1.0,"position":2.0}
{"id":"Kw002","query":"q2","source":"import","trackedSince":"2025-01-03T00:00:00.002Z","intent":"unclassified","groupIds":["Bbbbb"],"clicks":2147483648,"impressions":2147483648,"ctr":1.0,"position":1.0}
{"id":"Kw003","query":"q3","source":"import","trackedSince":"2025-01-02T00:00:00.003Z","intent":"unclassified","groupIds":["Bbbbb"],"clicks":1,"impressions":3,"ctr":0.3333,"position":1431655766.7}
{"id":"Kw004","query":"q4","source":"import","trackedSince":"2025-01-01T00:00:00.004Z","intent":"unclassified","groupIds":[],"clicks":1,"impressions":281474976710656,"ctr":0.0,"position":2.0}
`,
  );
});

t.test('Parquet tells the bounds and nulls of its columns, texts by their bytes', async (t) => {
  t.match(await bounds(await bytes('notes.parquet')), {
    scope: ['page', 'project', 0],
    date: ['1969-12-31', '2026-03-01', 0],
    endDate: ['2026-03-02', '2026-03-02', 7],
    text: ['\tb', '🥾', 0],
    clientVisible: ['false', 'true', 0],
    group_id: [null, null, 13],
    page: ['/a', '=/b', 4],
    createdAt: ['2026-03-02 10:00:00.1+00', '2026-03-02 10:00:00.112+00', 0],
    updatedAt: ['1969-12-31 23:59:59.999+00', '2026-03-02 10:00:00+00', 0],
  });
  t.match(await bounds(await bytes('keywords.parquet')), {
    trackedSince: ['2025-01-01 00:00:00.004+00', '2025-01-05 00:00:00+00', 0],
    'groupIds, list, element': [null, null, 2],
    clicks: ['0', '2147483648', 0],
    impressions: ['0', String(2 ** 48), 0],
    ctr: ['0.0', '1.0', 1],
    position: ['1.0', '1431655766.7', 1],
    sum_position: ['0', String(2 ** 48 - 1), 0],
  });
});

t.test('no rows are a whole file with its columns', async (t) => {
  for (const [path, types] of [
    ['notes', NOTE_TYPES],
    ['keywords', KEYWORD_TYPES],
  ] as const) {
    const none = path === 'notes' ? '?from=2027-01-01' : '?offset=5';
    const plain = Object.keys(types).filter((name) => name !== 'sum_position');
    t.equal((await bytes(`${path}.csv${none}`)).toString(), `${plain.join()}\r\n`);
    t.equal((await bytes(`${path}.ndjson${none}`)).length, 0);
    const [arrow, parquet] = [0, 1].map((at) => Object.entries(types).map(([name, both]) => [name, both[at]]));
    t.strictSame(readArrow(await bytes(`${path}.arrow${none}`)), { rows: [], types: Object.fromEntries(arrow!) });
    const read = await readParquet(await bytes(`${path}.parquet${none}`));
    t.strictSame(read, { rows: [], types: Object.fromEntries(parquet!) });
  }
});

t.test('batches are made on demand, and written in chunks', async (t) => {
  let made = 0;
  const batches = (function* () {
    for (; made < 40; made++) yield { length: 1000, cells: [() => 'some words of a query', () => null] };
  })();
  const columns = [
    { name: 'query', type: 'text' },
    { name: 'position', type: 'ratio' },
  ] as const;
  const parts = ROW_FORMATS.csv.write({ columns, batches }, { bom: false });
  const first = await parts.next();
  t.ok(made <= 4, 'a part needs no more than its own batches');
  let text = String(first.value);
  for await (const part of parts) text += part.toString();
  t.equal(text.length, 'query,position\r\n'.length + 40_000 * 'some words of a query,\r\n'.length);
});
