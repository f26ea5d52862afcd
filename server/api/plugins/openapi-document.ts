import { isDeepStrictEqual } from 'node:util';
import { ERRORS, type ErrorCode } from '../../domain/errors.ts';

interface Operation {
  parameters?: { readonly in: string }[];
  responses: Record<string, Response | Reference>;
}

interface Response {
  readonly content?: { readonly 'application/json': { readonly examples?: object } };
}

interface Reference {
  readonly $ref: string;
}

/** The parts of an OpenAPI document that are changed. */
interface Document {
  paths?: Record<string, { get?: Operation; head?: unknown; post?: Operation }>;
  components?: { responses?: Record<string, Response>; schemas?: Record<string, object> };
}

/** Of several, the first is that of all operations. */
const CODES = new Map(
  Object.entries(ERRORS)
    .toReversed()
    .map(([code, { status }]) => [String(status), code as ErrorCode]),
);

/**
 * Tidies the document generated from the route schemas: path parameters come first, error responses, which are the same
 * for every operation, become shared components, and so does every schema that has a title, under that name.
 */
export function tidyDocument<Given extends object>(given: Given): Given {
  const document = given as Document;
  const shared: Record<string, Response> = {};
  // As everywhere, HEAD is GET without the body.
  for (const path of Object.values(document.paths ?? {})) delete path.head;
  for (const operation of Object.values(document.paths ?? {}).flatMap(({ get, post }) =>
    [get ?? [], post ?? []].flat(),
  )) {
    operation.parameters?.sort((a, b) => Number(b.in === 'path') - Number(a.in === 'path'));
    for (const [status, response] of Object.entries(operation.responses)) {
      const code = CODES.get(status);
      if (code === undefined || '$ref' in response) continue;
      const name = componentName(code);
      // The shared response uses the first example.
      const known = shared[name];
      if (known === undefined || (!hasExample(known) && hasExample(response))) shared[name] = response;
      operation.responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  const schemas: Record<string, object> = {};
  document.paths = withReferences(document.paths ?? {}, schemas);
  const responses = withReferences(shared, schemas);
  const byName = Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  document.components = { ...document.components, schemas: Object.fromEntries(byName), responses };
  return given;
}

function hasExample({ content }: Response): boolean {
  return content?.['application/json'].examples !== undefined;
}

/** `InvalidRequest` for `invalid_request`. */
function componentName(code: ErrorCode): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** A copy with references in place of schemas that have a title; those are added to `schemas` under that name. */
function withReferences<Part>(part: Part, schemas: Record<string, object>): Part {
  if (Array.isArray(part)) return part.map((item: unknown) => withReferences(item, schemas)) as Part;
  if (typeof part !== 'object' || part === null) return part;
  const copied = Object.entries(part).map(([name, value]: [string, unknown]) =>
    // Examples are data, not schemas.
    [name, name === 'examples' ? value : withReferences(value, schemas)],
  );
  const { title, default: fallback, ...schema } = Object.fromEntries(copied) as Readonly<Record<string, unknown>>;
  if (typeof title !== 'string') return Object.fromEntries(copied) as Part;
  const known = schemas[title];
  if (known !== undefined && !isDeepStrictEqual(known, schema)) throw new Error(`two schemas are called ${title}`);
  schemas[title] = schema;
  const reference: Reference = { $ref: `#/components/schemas/${title}` };
  return (fallback === undefined ? reference : { allOf: [reference], default: fallback }) as Part;
}
