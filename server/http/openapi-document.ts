import { ERRORS, type ErrorCode } from '../domain/errors.ts';

interface Operation {
  parameters?: { readonly in: string }[];
  responses: Record<string, object>;
}

/** What is tidied of an OpenAPI document. */
interface Document {
  paths?: Record<string, { get?: Operation }>;
  components?: { responses?: Record<string, object> };
}

const CODES = new Map(Object.entries(ERRORS).map(([code, { status }]) => [String(status), code as ErrorCode]));

/**
 * Tidies the document that the route schemas give: parameters of the path come first, and error answers, which are the
 * same for every operation, stand once among the components.
 */
export function tidyDocument<Given extends object>(given: Given): Given {
  const document = given as Document;
  const shared: Record<string, object> = {};
  for (const { get } of Object.values(document.paths ?? {})) {
    if (get === undefined) continue;
    get.parameters?.sort((a, b) => Number(b.in === 'path') - Number(a.in === 'path'));
    for (const [status, response] of Object.entries(get.responses)) {
      const code = CODES.get(status);
      if (code === undefined) continue;
      const name = componentName(code);
      // The first one's example stands for all.
      shared[name] ??= response;
      get.responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  document.components = { ...document.components, responses: shared };
  return given;
}

/** `InvalidRequest` for `invalid_request`. */
function componentName(code: ErrorCode): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
