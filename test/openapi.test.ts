// The OpenAPI document describes every operation, parameter, error and format as the server has it.
import t, { type Test } from 'tap';
import type { TSchema } from 'typebox';
import Value from 'typebox/value';
import { ROUTES } from '../server/api/api.ts';
import { createKey } from '../server/catalog/keys.ts';
import { ERRORS } from '../server/domain/errors.ts';
import { FORMATS, MEDIA_TYPES } from '../server/domain/formats.ts';
import { facts, keyword, makeWorld, NOW, PROJECT, type Row, WORKSPACE } from './world.ts';

interface Header {
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly {
    name: string;
    in: string;
    required?: boolean;
    description: string;
    schema: Readonly<Record<string, unknown>>;
  }[];
  readonly responses: Readonly<Record<string, Response>>;
}
interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, Header>>;
  /** None where nothing is sent. */
  readonly content: Readonly<Record<string, { schema: TSchema }>>;
}
interface Reference {
  readonly $ref: string;
}
type Served = Omit<Operation, 'responses'> & { readonly responses: Readonly<Record<string, Response | Reference>> };
interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, unknown>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly schemas: Readonly<Record<string, object>>;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Served>>>>;
}

const uuid = '00000001-0000-4000-8000-0000000000ab';
const note: Row = {
  workspace_id: 'acme',
  scope: 'workspace',
  date: '2026-03-01',
  category: 'other',
  text: 'Note',
  author: 'Ann',
  created_at: '2026-03-01T00:00:00Z',
  updated_at: '2026-03-01T00:00:00Z',
};
const alert: Row = {
  project_id: 'Proj1',
  type: 'keyword_drop',
  kind: 'Keyword drop',
  severity: 'critical',
  title: 'Title',
  body: 'Body',
  created_at: '2026-03-01T00:00:00Z',
};

/** Of the server; later than the minute of a limit. */
let time = NOW;
const world = await makeWorld(
  t,
  {
    workspaces: [WORKSPACE, { ...WORKSPACE, id: 'gratis', plan: 'free' }],
    projects: [
      { ...PROJECT, country: 'usa', language: 'en' },
      { id: 'Fresh', workspace_id: 'acme', domain: 'new.example', property: 'p', created_at: '2026-03-01T00:00:00Z' },
    ],
    keywords: [keyword('kwOne', 'red shoes'), keyword('kwTwo', 'blue shoes')],
    groups: [
      { project_id: 'Proj1', id: 'foldr', name: 'Folder', kind: 'folder', position: 1 },
      { project_id: 'Proj1', id: 'manul', name: 'Manual', kind: 'manual', position: 2, parent_id: 'foldr' },
      {
        project_id: 'Proj1',
        id: 'rulee',
        name: 'Rule',
        kind: 'rule',
        position: 3,
        rule: {
          match: 'all',
          conditions: [
            { field: 'position', op: 'lte', value: 10.5 },
            { field: 'query', op: 'matches', value: 'a|b' },
          ],
        },
      },
    ],
    group_members: [{ project_id: 'Proj1', group_id: 'manul', keyword_id: 'kwOne' }],
    page_groups: [
      {
        project_id: 'Proj1',
        id: 'pages',
        name: 'Pages',
        position: 1,
        rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/a' }] },
        pinned_urls: ['/b'],
      },
    ],
    alerts: [
      { ...alert, id: uuid },
      {
        ...alert,
        id: uuid.replace('1', '2'),
        date: '2026-03-01',
        keyword_id: 'kwOne',
        url: 'https://x.example/',
        resolved_at: '2026-03-02T00:00:00Z',
      },
    ],
    notes: [
      { ...note, id: uuid },
      { ...note, id: uuid.replace('1', '2'), project_id: 'Proj1', scope: 'keyword', keyword_id: 'kwOne' },
      { ...note, id: uuid.replace('1', '3'), project_id: 'Proj1', scope: 'group', group_id: 'foldr' },
      {
        ...note,
        id: uuid.replace('1', '4'),
        project_id: 'Proj1',
        scope: 'page',
        page: 'https://shop.example/',
        end_date: '2026-03-02',
        client_visible: true,
      },
    ],
    site_daily: facts('date device', ['2026-03-01', 'mobile', 3, 100, 900]),
    keyword_daily: facts('keyword_id date device', ['kwOne', '2026-03-01', 'mobile', 1, 3, 5]),
    country_daily: facts('date country', ['2026-03-01', 'usa', 3, 100, 900]),
    country_monthly: facts('month country', ['2026-02-01', 'usa', 3, 100, 900], ['2026-02-01', 'other', 1, 3, 0]),
    appearance_daily: facts('date appearance', ['2026-03-01', 'VIDEO', 3, 100, 900]),
    brand_daily: facts('date segment', ['2026-03-01', 'brand', 1, 3, 5]),
    page_daily: facts('date url country', ['2026-03-01', 'https://shop.example/', 'usa', 1, 3, 5]),
    query_daily: facts(
      'date query country',
      ['2026-03-01', 'red shoes', 'usa', 1, 3, 5],
      ['2026-03-01', 'acme', 'usa', 0, 0, 0],
    ),
  },
  { now: () => time },
);

const served = await world.app.inject({ method: 'GET', url: '/openapi.json' });
const openapi = JSON.parse(served.body) as Document;
const servedAt = (path: string): Served => openapi.paths[`/api/v1${path}`]!['get']!;

/** A part of the document with all references resolved. */
function resolved(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(resolved);
  if (typeof part !== 'object' || part === null) return part;
  const { $ref, allOf, ...own } = part as { $ref?: string; allOf?: unknown[] };
  // A reference with a default.
  if (allOf?.length === 1) return { ...(resolved(allOf[0]) as object), ...own };
  if ($ref === undefined)
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, resolved(value)]));
  const [, , kind, name = ''] = $ref.split('/');
  const target = openapi.components[kind as 'responses' | 'schemas'][name];
  if (target === undefined) throw new Error(`${$ref} is not in the document`);
  return resolved(target);
}

/** An operation with resolved references. */
function operationAt(path: string): Operation {
  return resolved(servedAt(path)) as Operation;
}

/** What the contract has. */
const CONTRACT = [
  '/portfolio',
  '/projects',
  '/projects/{id}',
  '/projects/{id}/alerts',
  '/projects/{id}/breakdowns',
  '/projects/{id}/groups',
  '/projects/{id}/hours',
  '/projects/{id}/keywords',
  '/projects/{id}/notes',
  '/projects/{id}/page-groups',
  '/projects/{id}/pages',
  '/projects/{id}/queries',
  '/projects/{id}/site',
  '/projects/{id}/snapshot',
];
/** The only operation whose answer is no document. */
const FILE_PATH = '/projects/{id}/snapshot/{file}';
const SQL_PATH = '/projects/{id}/sql';
/** All operations that answer a document. */
const PATHS = Object.keys(openapi.paths)
  .map((path) => path.replace('/api/v1', ''))
  .filter((path) => path !== FILE_PATH && path !== SQL_PATH);
const hasFormats = (path: string): boolean =>
  operationAt(path).parameters?.some(({ name }) => name === 'format') === true;

t.test(
  'an OpenAPI 3.1 document of all operations, all of them GET, a question by POST too, and SQL by POST alone',
  async (t) => {
    t.equal(served.statusCode, 200);
    t.match(served.headers['content-type'], /^application\/json/);
    t.match(openapi.openapi, /^3\.1\.\d+$/);
    for (const path of [...CONTRACT, FILE_PATH]) t.ok(openapi.paths[`/api/v1${path}`], path);
    t.strictSame(
      Object.keys(openapi.paths).sort(),
      [...ROUTES, { path: SQL_PATH }].map(({ path }) => `/api/v1${path.replaceAll(/:(\w+)/g, '{$1}')}`).sort(),
    );
    for (const [path, item] of Object.entries(openapi.paths)) {
      const methods = path.endsWith('/sql') ? ['post'] : path.endsWith('/query') ? ['get', 'post'] : ['get'];
      t.strictSame(Object.keys(item), methods, path);
    }
    const ids = [...PATHS, FILE_PATH].map((path) => operationAt(path).operationId);
    t.equal(new Set(ids).size, ids.length);
    t.match(openapi.components.securitySchemes, { key: { type: 'http', scheme: 'bearer' } });
    for (const path of [...PATHS, FILE_PATH]) {
      t.strictSame(operationAt(path).security, [{ key: [] }], path);
      t.ok(operationAt(path).summary, path);
    }
  },
);

/** The parameters in the contract: bounds and default of the schema. */
const DAY = { type: 'string', format: 'date' };
const RANGE = {
  from: DAY,
  to: { type: 'string', pattern: '^(final|[1-9][0-9]{3}-[0-9]{2}-[0-9]{2})$' },
  period: { type: 'string' },
};
const COUNTRY = { type: 'string', pattern: '^[A-Za-z]{3}$' };
const DEVICE = { type: 'string', enum: ['all', 'desktop', 'mobile', 'tablet'], default: 'all' };
const ENGINE = { engine: { type: 'string', pattern: '^(google|bing)$', default: 'google' } };
const TYPE = { type: { type: 'string', pattern: '^(web|image|video|news|discover|googleNews)$', default: 'web' } };
const FLAG = { type: 'boolean', default: false };
const number = (minimum: number, fallback: number, maximum?: number) => ({
  type: 'integer',
  minimum,
  default: fallback,
  ...(maximum === undefined ? {} : { maximum }),
});
const FORMAT = {
  format: { type: 'string', enum: FORMATS, default: 'json' },
  bom: FLAG,
};
const COMPARE = { compare: { type: 'string', pattern: '^(previous|year|' }, quality: FLAG };
const INTERVAL = { interval: { type: 'string', enum: ['day', 'week', 'month'], default: 'day' } };
const SELECTION = { filter: { type: 'string', maxLength: 4096 }, sort: { type: 'string' } };
const LIST = {
  ...SELECTION,
  ...COMPARE,
  ...RANGE,
  ...ENGINE,
  ...TYPE,
  country: COUNTRY,
  limit: number(1, 1000, 25_000),
  offset: number(0, 0),
  ...FORMAT,
};
const PARAMETERS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  '/projects': FORMAT,
  '/projects/{id}': {},
  '/portfolio': {
    ...RANGE,
    ...ENGINE,
    ...TYPE,
    device: DEVICE,
    daily: FLAG,
    ...INTERVAL,
    ...COMPARE,
    ...SELECTION,
    limit: number(1, 1000, 5000),
    offset: number(0, 0),
    ...FORMAT,
  },
  '/projects/{id}/keywords': {
    ...RANGE,
    device: DEVICE,
    daily: FLAG,
    ...INTERVAL,
    ...COMPARE,
    group: { type: 'string' },
    ...SELECTION,
    limit: number(1, 1000, 5000),
    offset: number(0, 0),
    ...FORMAT,
  },
  '/projects/{id}/groups': {},
  '/projects/{id}/page-groups': {},
  '/projects/{id}/site': {
    ...RANGE,
    ...ENGINE,
    ...TYPE,
    device: DEVICE,
    country: COUNTRY,
    ...COMPARE,
    ...INTERVAL,
    ...FORMAT,
  },
  '/projects/{id}/hours': { from: { type: 'string' }, to: { type: 'string' }, ...FORMAT },
  '/projects/{id}/sitemaps': FORMAT,
  '/projects/{id}/index': { ...SELECTION, limit: number(1, 1000, 25_000), offset: number(0, 0), ...FORMAT },
  '/projects/{id}/index/history': { page: { type: 'string', minLength: 1, maxLength: 2048 }, ...FORMAT },
  '/projects/{id}/crawl': { page: { type: 'string', minLength: 1, maxLength: 2048 }, ...FORMAT },
  '/projects/{id}/ai': {
    ...RANGE,
    by: { type: 'string', enum: ['date', 'page'], default: 'date' },
    limit: number(1, 1000, 25_000),
    offset: number(0, 0),
    ...FORMAT,
  },
  '/projects/{id}/surfaces': { ...RANGE, compare: COMPARE.compare, ...FORMAT },
  '/projects/{id}/breakdowns': { ...RANGE, ...ENGINE, ...TYPE, ...COMPARE, ...FORMAT },
  '/projects/{id}/pages': LIST,
  '/projects/{id}/queries': LIST,
  '/projects/{id}/alerts': {
    status: { type: 'string', enum: ['open', 'resolved', 'all'], default: 'all' },
    since: DAY,
    limit: number(1, 100, 500),
    ...FORMAT,
  },
  '/projects/{id}/notes': { from: DAY, to: DAY, clientVisible: FLAG, ...FORMAT },
  '/projects/{id}/snapshot': { since: { type: 'integer', minimum: 0 } },
};

t.test('parameters with their bounds and defaults', async (t) => {
  for (const path of PATHS) {
    const parameters = operationAt(path).parameters ?? [];
    const query = parameters.filter((parameter) => parameter.in === 'query');
    const wanted = PARAMETERS[path] ?? Object.fromEntries(query.map(({ name }) => [name, {}]));
    t.strictSame(query.map(({ name }) => name).sort(), Object.keys(wanted).sort(), path);
    for (const { name, schema, required, description } of query) {
      t.match(schema, wanted[name], `${path} ${name}`);
      t.not(required, true, `${path} ${name} is optional`);
      t.ok(description, `${path} ${name} is explained`);
      if (name === 'from' && 'period' in wanted) {
        t.match(description, /27 days before/, path);
        t.match(description, /486/, path);
      }
      if (name === 'to' && 'period' in wanted) t.match(description, /last synced day/, path);
      if (name === 'period') t.match(description, /1d to 486d.*1m to 16m/, path);
    }
    const inPath = parameters.filter((parameter) => parameter.in === 'path');
    t.strictSame(
      inPath.map(({ name, required }) => [name, required]),
      path.includes('{id}') ? [['id', true]] : [],
      path,
    );
  }
  const listTo = operationAt('/projects/{id}/pages').parameters?.find(({ name }) => name === 'to');
  t.match(`${listTo?.description} ${JSON.stringify(operationAt('/projects/{id}/pages'))}`, /before today/);
});

t.test('the id of the project comes first; errors are defined once for all operations', async (t) => {
  for (const path of PATHS) {
    const { parameters = [], responses } = servedAt(path);
    if (path.includes('{id}')) t.match(parameters[0], { name: 'id', in: 'path' }, path);
    for (const [status, response] of Object.entries(responses)) t.equal('$ref' in response, status >= '400', status);
  }
  t.strictSame(Object.keys(openapi.components.responses).sort(), [
    'GoogleAccessLost',
    'InvalidRequest',
    'NotFound',
    'PlanRequired',
    'RateLimited',
    'ServerError',
    'Unauthorized',
    'Unavailable',
  ]);
});

/** Calls `see` with every schema of a part of the document, and the words that lead to it. */
function eachSchema(part: unknown, see: (schema: Record<string, unknown>, path: string) => void, path = ''): void {
  if (typeof part !== 'object' || part === null) return;
  const { type, enum: words } = part as Record<string, unknown>;
  if (typeof type === 'string' || Array.isArray(words)) see(part as Record<string, unknown>, path);
  for (const [name, value] of Object.entries(part)) {
    if (name !== 'examples' && name !== 'enum') eachSchema(value, see, `${path}/${name}`);
  }
}

t.test('every object and every choice has a name, and the same name in all operations', async (t) => {
  const { schemas, responses } = openapi.components;
  eachSchema({ paths: openapi.paths, responses }, ({ type, enum: words }, path) => {
    if (type === 'object' || words !== undefined) t.fail(`${path} has no name`);
  });
  for (const [name, schema] of Object.entries(schemas)) {
    eachSchema(schema, (inner, path) => {
      if (inner !== schema && (inner['type'] === 'object' || inner['enum'])) t.fail(`${name}${path} has no name`);
    });
  }
  const uses = (name: string) => JSON.stringify(openapi).split(`{"$ref":"#/components/schemas/${name}"}`).length - 1;
  t.strictSame(
    Object.keys(schemas).filter((name) => uses(name) === 0),
    [],
    'all of them are used',
  );
  const types = Object.keys(schemas).length;
  // A question has a body with types of its own, and rows with any of its dimensions.
  t.ok(types <= 25 + 4 * ROUTES.length, `generated clients have few types: ${types} for ${ROUTES.length} endpoints`);
  t.equal(uses('Error'), 9, 'one schema of all errors');
  t.ok(uses('Paging') >= 4);
  t.ok(uses('Range') >= 6);
  t.ok(uses('Metrics') >= 9, 'keywords, and the comparison of every object of metrics');
  t.ok(uses('ProjectReference') >= 10);
});

t.test('what ends in At is an instant, what ends in Day, Through or After a day', (t) => {
  let times = 0;
  eachSchema(openapi.components, ({ type, format }, path) => {
    const name = /\/(\w+)(?:\/anyOf\/\d+)?$/.exec(path)?.[1] ?? '';
    const expected = /At$/.test(name) ? 'date-time' : /(Day|Through|After)$/.test(name) ? 'date' : undefined;
    // Hours end at an instant.
    if (expected === undefined || type !== 'string' || path.includes('/HoursRange/')) return;
    times++;
    t.equal(format, expected, path);
  });
  t.ok(times > 20);
  t.end();
});

t.test('numbers say how large they may be, ids what they look like', async (t) => {
  let numbers = 0;
  eachSchema(openapi, ({ type, format }, path) => {
    if (type !== 'integer' && type !== 'number') return;
    numbers++;
    t.equal(format, type === 'integer' ? 'int64' : 'double', path);
  });
  t.ok(numbers > 50);
  const id = { type: 'string', pattern: '^[A-Za-z0-9]{5}$' };
  for (const name of ['Project', 'ProjectReference', 'Keyword', 'Group', 'PageGroup']) {
    t.match(openapi.components.schemas[name], { properties: { id } }, name);
  }
  for (const path of PATHS.filter((path) => path.includes('{id}'))) {
    t.match(servedAt(path).parameters?.[0], { name: 'id', in: 'path', schema: id }, path);
  }
});

t.test('every error of the contract, each with its code', async (t) => {
  const everywhere = ['401', '403', '429', '500'];
  for (const path of PATHS) {
    const { responses } = operationAt(path);
    const wanted = [
      ...everywhere,
      ...(path.includes('{id}') ? ['404'] : []),
      ...(operationAt(path).parameters?.some((parameter) => parameter.in === 'query') ? ['400'] : []),
      ...(/\/(pages|queries|explain)$/.test(path) ? ['409', '503'] : []),
    ];
    for (const status of wanted) t.ok(responses[status], `${path} ${status}`);
    if (!/\/(pages|queries|explain)$/.test(path)) t.notOk(responses['409'], `${path} never answers 409`);
  }
  const all: Record<string, string> = {};
  for (const path of PATHS) {
    for (const [status, response] of Object.entries(operationAt(path).responses)) {
      if (status < '400') continue;
      const { schema } = response.content['application/json']!;
      const [name = ''] = Object.entries(ERRORS).find(([, error]) => String(error.status) === status) ?? [];
      t.ok(Value.Check(schema, { error: { code: name, message: 'words' } }), `${path} ${status} is ${name}`);
      t.ok(response.description.startsWith(`\`${name}\`: `), `${path} ${status} says so`);
      t.notOk(
        Value.Check(schema, { error: { code: 'other', message: 'words' } }),
        `${path} ${status} has a known code`,
      );
      t.notOk(Value.Check(schema, { error: { code: name } }), `${path} ${status} has a message`);
      all[status] = name;
    }
  }
  t.strictSame(all, {
    400: 'invalid_request',
    401: 'unauthorized',
    403: 'plan_required',
    404: 'not_found',
    409: 'google_access_lost',
    429: 'rate_limited',
    500: 'server_error',
    503: 'unavailable',
  });
});

const ROW_HEADERS = [
  'Content-Disposition',
  'X-Comparison-From',
  'X-Comparison-To',
  'X-Provisional-After',
  'X-Quality',
  'X-Remainder',
  'X-Range-From',
  'X-Range-To',
  'X-Total-Count',
];

t.test('every format has its media type, and 304 no content', async (t) => {
  const { json, ...rows } = MEDIA_TYPES;
  for (const path of PATHS) {
    const { responses } = operationAt(path);
    const wanted = hasFormats(path) ? [json, ...Object.values(rows)] : [json];
    t.strictSame(Object.keys(responses['200']!.content), wanted, path);
    t.ok('304' in responses, path);
    t.notOk(responses['304']?.content, path);
  }
});

t.test('headers are documented where they are sent, each with a type', async (t) => {
  const limits = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];
  for (const path of PATHS) {
    for (const [status, { headers }] of Object.entries(operationAt(path).responses)) {
      const wanted = [
        'Cache-Control',
        ...(status === '401' ? ['WWW-Authenticate'] : limits),
        ...(status === '429' || status === '503' ? ['Retry-After'] : []),
        ...(status < '400' ? ['ETag'] : []),
        ...(status === '200' && hasFormats(path) ? ROW_HEADERS : []),
      ];
      t.strictSame(Object.keys(headers).sort(), wanted.sort(), `${path} ${status}`);
    }
  }
  const { headers } = operationAt('/projects').responses['429']!;
  for (const [name, { schema }] of Object.entries(headers)) {
    t.match(schema['type'], /^(integer|string)$/, `the schema of ${name}: ${JSON.stringify(schema)}`);
  }
});

t.test('a file, in whole or in part', async (t) => {
  const { parameters = [], responses } = operationAt(FILE_PATH);
  t.strictSame(
    parameters.map(({ name }) => name),
    ['id', 'file'],
  );
  t.strictSame(Object.keys(responses), ['200', '206', '304', '401', '403', '404', '416', '429', '500', '503']);
  for (const status of ['200', '206']) {
    t.strictSame(Object.keys(responses[status]!.content), ['application/vnd.apache.parquet'], status);
    t.match(responses[status]!.headers, { 'Accept-Ranges': {}, ETag: {}, 'Cache-Control': {} }, status);
  }
  for (const status of ['206', '416']) t.ok(responses[status]!.headers['Content-Range'], status);
  const { body } = await world.ask('/snapshot');
  const [first] = body.files as { href: string }[];
  const headers = { authorization: `Bearer ${world.key}`, range: 'bytes=99999999-' };
  const refused = await world.app.inject({ url: first!.href, headers });
  t.ok(Value.Check(responses['416']!.content['application/json']!.schema, JSON.parse(refused.body)));
});

/** The answer matches the schema of the document. */
function checkAnswer(t: Test, path: string, answer: { status: number; body: unknown }): void {
  const response = operationAt(path).responses[String(answer.status)];
  if (response === undefined) {
    t.fail(`${path} answers ${answer.status}, which is not documented`);
    return;
  }
  const { schema } = response.content['application/json']!;
  const [first] = Value.Errors(schema, answer.body);
  t.ok(Value.Check(schema, answer.body), `${path} ${answer.status} ${JSON.stringify(first ?? '')}`);
}

t.test('answers match the document', async (t) => {
  const queries: Readonly<Record<string, readonly string[]>> = {
    '/projects/{id}/keywords': [
      '',
      '?daily=1&device=mobile',
      '?group=foldr',
      '?group=rulee',
      '?offset=9',
      '?limit=0',
      '?compare=previous&quality=1',
      '?daily=1&compare=year&interval=week',
    ],
    '/projects/{id}/site': [
      '',
      '?country=usa&from=2026-02-01',
      '?device=tablet',
      '?country=us',
      '?compare=previous&interval=month&quality=1',
      '?country=usa&from=2026-02-10&compare=year',
      '?type=discover&compare=previous&quality=1',
    ],
    '/projects/{id}/breakdowns': [
      '',
      '?from=2026-02-03',
      '?period=1d',
      '?period=0d',
      '?from=2026-03-01&compare=2026-02-01..2026-02-28&quality=1',
      '?compare=x',
    ],
    '/projects/{id}/ai': ['', '?by=page&limit=1', '?by=x'],
    '/projects/{id}/surfaces': ['', '?period=2m&compare=previous', '?period=x'],
    '/projects/{id}/sitemaps': [''],
    '/projects/{id}/index': ['', '?filter=verdict:equals:PASS&sort=-since', '?sort=x'],
    '/projects/{id}/index/history': ['', '?page=https%3A%2F%2Fshop.example%2F'],
    '/projects/{id}/crawl': ['', '?page=https%3A%2F%2Fshop.example%2F', '?page=x'],
    '/projects/{id}/hours': ['', '?from=2026-03-01&to=2026-03-02', '?from=x'],
    '/projects/{id}/pages': ['', '?country=usa', '?offset=9', '?to=2026-03-15', '?compare=previous', '?quality=1'],
    '/projects/{id}/queries': ['', '?country=fra', '?limit=1', '?limit=0', '?compare=year&quality=1'],
    '/projects/{id}/alerts': ['', '?status=open', '?limit=501'],
    '/projects/{id}/notes': ['', '?clientVisible=1', '?from=x'],
    '/projects/{id}/snapshot': ['', '?since=0', '?since=x'],
  };
  for (const path of PATHS) {
    for (const id of path.includes('{id}') ? ['Proj1', 'Fresh', 'nosuc'] : ['']) {
      for (const query of queries[path] ?? ['', '?period=7d&compare=previous']) {
        checkAnswer(t, path, await world.get(`${path.replace('{id}', id)}${query}`));
      }
    }
  }
});

t.test('the checked answers have rows, and a wrong row is noticed', async (t) => {
  time += 60_000;
  const lists = { keywords: 2, groups: 3, 'page-groups': 1, pages: 1, queries: 2, alerts: 2, notes: 4 };
  for (const [resource, count] of Object.entries(lists)) {
    const { body } = await world.ask(`/${resource}`);
    const rows = Object.values(body).find(Array.isArray) as unknown[];
    t.equal(rows.length, count, resource);
    const { schema } = operationAt(`/projects/{id}/${resource}`).responses['200']!.content['application/json']!;
    const name = Object.keys(body).find((key) => body[key] === rows)!;
    t.notOk(Value.Check(schema, { ...body, [name]: [{ ...(rows[0] as object), extra: 1 }] }), `${resource}: extra`);
    t.notOk(Value.Check(schema, { ...body, [name]: [{}] }), `${resource}: nothing in it`);
    t.notOk(Value.Check(schema, { ...body, project: null }), `${resource}: no project`);
  }
});

t.test('errors of the key are what every operation says', async (t) => {
  const free = (await createKey(world.catalog, { workspace: 'gratis', name: 'free', by: null, at: 0 })).key;
  const spent = (await createKey(world.catalog, { workspace: 'acme', name: 'spent', by: null, at: 0 })).key;
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  for (let time = 0; time < 120; time++) await world.get('/projects', bearer(spent));
  for (const path of PATHS) {
    const address = path.replace('{id}', 'Proj1');
    for (const [status, headers] of [
      [401, {}],
      [403, bearer(free)],
      [429, bearer(spent)],
    ] as const) {
      const answer = await world.get(address, headers);
      t.equal(answer.status, status, path);
      checkAnswer(t, path, answer);
    }
  }
});
