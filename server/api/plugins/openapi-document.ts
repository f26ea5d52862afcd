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
  paths?: Record<string, { get?: Operation }>;
  components?: { responses?: Record<string, Response> };
}

const CODES = new Map(Object.entries(ERRORS).map(([code, { status }]) => [String(status), code as ErrorCode]));

/**
 * Tidies the document generated from the route schemas: path parameters come first, and error responses, which are the same
 * for every operation, become shared components.
 */
export function tidyDocument<Given extends object>(given: Given): Given {
  const document = given as Document;
  const shared: Record<string, Response> = {};
  for (const { get } of Object.values(document.paths ?? {})) {
    if (get === undefined) continue;
    get.parameters?.sort((a, b) => Number(b.in === 'path') - Number(a.in === 'path'));
    for (const [status, response] of Object.entries(get.responses)) {
      const code = CODES.get(status);
      if (code === undefined || '$ref' in response) continue;
      const name = componentName(code);
      // The shared response uses the first example.
      const known = shared[name];
      if (known === undefined || (!hasExample(known) && hasExample(response))) shared[name] = response;
      get.responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  document.components = { ...document.components, responses: shared };
  return given;
}

function hasExample({ content }: Response): boolean {
  return content?.['application/json'].examples !== undefined;
}

/** `InvalidRequest` for `invalid_request`. */
function componentName(code: ErrorCode): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
