// The OpenAPI document describes every operation, parameter, error and format as the server has it.
import t, { type Test } from 'tap';
import type { TSchema } from 'typebox';
import Value from 'typebox/value';
import { sameAsRecorded } from './recorded.ts';
import { readTables } from './rows.ts';
import { makeWorld, NOW } from './world.ts';

type Json = Readonly<Record<string, unknown>>;
interface Operation {
  readonly operationId: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description: string;
    readonly schema: Json;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}
type Content = Readonly<Record<string, { readonly schema: Json }>>;
interface Response {
  readonly headers?: Readonly<Record<string, { readonly schema: Json }>>;
  readonly content?: Content;
}
interface Document {
  readonly openapi: string;
  readonly components: {
    readonly securitySchemes: Json;
    readonly responses: Readonly<Record<string, Response & { readonly description: string }>>;
    readonly schemas: Readonly<Record<string, Json>>;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Of the server; later than the minute of a limit. */
let time = NOW;
const world = await makeWorld(t, readTables('openapi'), { now: () => time });

const served = await world.app.inject({ method: 'GET', url: '/openapi.json' });
const openapi = JSON.parse(served.body) as Document;
const PATHS = Object.keys(openapi.paths)
  .map((path) => path.replace('/api/v1', ''))
  .filter((path) => !/\/(sql|\{file\})$/.test(path));

/** A part of the document with all references resolved. */
function resolved(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(resolved);
  if (typeof part !== 'object' || part === null) return part;
  const { $ref, ...own } = part as { $ref?: string };
  if ($ref === undefined)
    return Object.fromEntries(Object.entries(own).map(([name, value]) => [name, resolved(value)]));
  const [, , kind, name = ''] = $ref.split('/');
  return resolved(openapi.components[kind as 'responses' | 'schemas'][name]);
}

/** A schema in a line: references by their name, without texts for people. */
function short(schema: unknown): string {
  const { $ref, type, anyOf, allOf, items, properties, required = [], ...more } = schema as Record<string, unknown>;
  const limits = Object.entries(more).filter(([name]) => !/^(description|examples?|title)$/.test(name));
  const rest = limits.map(([name, value]) => ` ${name}=${JSON.stringify(value)}`).join('');
  if (typeof $ref === 'string') return $ref.split('/').at(-1)! + rest;
  const any = (anyOf ?? allOf) as unknown[] | undefined;
  if (any !== undefined) return `${any.map(short).join(' | ')}${rest}`;
  if (type === 'array') return `[${short(items)}]${rest}`;
  const names = Object.entries((properties ?? {}) as Json);
  const own = names.map(
    ([name, of]) => `\n    ${name}${(required as string[]).includes(name) ? '' : '?'}: ${short(of)}`,
  );
  return `${typeof type === 'string' ? type : 'any'}${rest}${own.join('')}`;
}

function operationLines(path: string, method: string, operation: Operation): string[] {
  const { operationId, security, parameters = [], requestBody, responses } = operation;
  const contents = (content: Content = {}): string =>
    [...new Set(Object.entries(content).map(([type, { schema }]) => `${type} ${short(schema)}`))].join(', ');
  const answer = ([status, response]: [string, Response & { $ref?: string }]): string => {
    if (response.$ref !== undefined) return `  ${status} ${response.$ref.split('/').at(-1)}`;
    return `  ${status} ${contents(response.content)} (${Object.keys(response.headers ?? {})
      .sort()
      .join(' ')})`;
  };
  return [
    `${method.toUpperCase()} ${path} ${operationId} ${JSON.stringify(security)}`,
    ...parameters.map((one) => `  ${one.in} ${one.name}${one.required ? '' : '?'}: ${short(one.schema)}`),
    ...(requestBody === undefined ? [] : [`  body ${contents(requestBody.content)}`]),
    ...Object.entries(responses).map(answer),
  ];
}

t.test('what the document says of each operation, answer, header and schema', async (t) => {
  const { openapi: version, paths, components } = openapi;
  const text = [
    `OpenAPI ${version} ${JSON.stringify(components.securitySchemes)}`,
    ...Object.entries(paths).flatMap(([path, item]) => [
      '',
      ...Object.entries(item).flatMap(([method, operation]) => operationLines(path, method, operation)),
    ]),
    '',
    ...Object.entries(components.responses).map(([name, { description, headers = {}, content = {} }]) => {
      const sent = Object.entries(headers).map(([header, { schema }]) => `${header} ${String(schema['type'])}`);
      return `${name} ${description} ${Object.values(content)
        .map(({ schema }) => short(schema))
        .join()} (${sent.join(', ')})`;
    }),
    '',
    ...Object.entries(components.schemas).map(([name, schema]) => `${name}: ${short(schema)}`),
    '',
  ].join('\n');
  sameAsRecorded(t, 'openapi.txt', text);
  t.match(served, { statusCode: 200, headers: { 'content-type': /^application\/json/ } });
  const silent = Object.values(paths).flatMap((item) =>
    Object.values(item).flatMap(({ parameters = [] }) => parameters.filter(({ description }) => !description)),
  );
  t.strictSame(silent, [], 'each parameter is explained');
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
  const [types, paths] = [Object.keys(schemas).length, Object.keys(openapi.paths).length];
  // A question has a body with types of its own, and rows with any of its dimensions.
  t.ok(types <= 25 + 4 * paths, `generated clients have few types: ${types} for ${paths} endpoints`);
});

t.test('what ends in At is an instant, in Day, Through or After a day; numbers have their size', async (t) => {
  const wrong: string[] = [];
  eachSchema(openapi, ({ type, format }, path) => {
    const name = /\/(\w+)(?:\/anyOf\/\d+)?$/.exec(path)?.[1] ?? '';
    const ofText = /At$/.test(name) ? 'date-time' : /(Day|Through|After)$/.test(name) ? 'date' : format;
    const expected = type === 'integer' ? 'int64' : type === 'number' ? 'double' : type === 'string' ? ofText : format;
    // Hours end at an instant.
    if (format !== expected && !path.includes('/HoursRange/')) wrong.push(`${path}: ${String(format)}`);
  });
  t.strictSame(wrong, []);
});

/** The answer matches the schema of the document. */
function checkAnswer(t: Test, path: string, answer: { status: number; body: unknown }): void {
  const { get } = openapi.paths[`/api/v1${path}`]!;
  const response = (resolved(get) as Operation).responses[String(answer.status)];
  if (response?.content === undefined) {
    t.fail(`${path} answers ${answer.status}, which is not documented`);
    return;
  }
  const schema = response.content['application/json']!.schema as TSchema;
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
    const { get } = openapi.paths[`/api/v1/projects/{id}/${resource}`]!;
    const schema = (resolved(get) as Operation).responses['200']!.content!['application/json']!.schema as TSchema;
    const name = Object.keys(body).find((key) => body[key] === rows)!;
    t.notOk(Value.Check(schema, { ...body, [name]: [{ ...(rows[0] as object), extra: 1 }] }), `${resource}: extra`);
    t.notOk(Value.Check(schema, { ...body, [name]: [{}] }), `${resource}: nothing in it`);
    t.notOk(Value.Check(schema, { ...body, project: null }), `${resource}: no project`);
  }
});
