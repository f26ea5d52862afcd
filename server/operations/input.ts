import type { Static, TSchema } from 'typebox';
import { invalidRequest } from '../domain/errors.ts';

/** Input with the types of its fields. Throws `invalid_request` with the name of a field that is unknown, wrong or missing. */
export async function checkInput<Schema extends TSchema>(schema: Schema, sent: unknown): Promise<Static<Schema>> {
  // Takes a tenth of a second to load, and the first change can wait for it.
  const { Value } = await import('typebox/value');
  if (Value.Check(schema, sent)) return sent;
  throw invalidRequest(describe(schema, sent, Value.Errors(schema, sent)));
}

/** What is wrong with a body, by the name of its first wrong field. */
function describe(schema: TSchema, body: unknown, errors: ReturnType<typeof import('typebox/value').Errors>): string {
  const known = Object.keys((schema as { properties?: object }).properties ?? {});
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return `The body must be a JSON object with the fields ${known.join(', ')}.`;
  }
  const sent = Object.keys(body);
  const unknown = known.length > 0 ? sent.find((name) => !known.includes(name)) : undefined;
  if (unknown !== undefined) {
    return `'${unknown.slice(0, 40)}' is not a field of this request; its fields are ${known.join(', ')}.`;
  }
  const isChoice = errors.some(({ keyword }) => keyword === 'anyOf');
  const extra = isChoice ? undefined : errors.find(({ keyword }) => keyword === 'additionalProperties');
  if (extra !== undefined) {
    const [name = ''] = (extra.params as { additionalProperties: string[] }).additionalProperties;
    const path = [...extra.instancePath.split('/').slice(1), name.slice(0, 40)].join('.');
    return `'${path}' is not a field of this request.`;
  }
  const missing = errors.find(({ keyword, instancePath }) => keyword === 'required' && instancePath === '');
  if (missing)
    return `${(missing.params as { requiredProperties: string[] }).requiredProperties.join(', ')} must be sent.`;
  // The last one is about the whole value, where there are several for its parts.
  const [first] = errors;
  const field = first?.instancePath.slice(1).replaceAll('/', '.') ?? '';
  const { message: found = 'is not valid' } =
    errors.findLast((error) => error.instancePath === first?.instancePath) ?? {};
  const choices = errors.filter((error) => error.instancePath === first?.instancePath).map((error) => error.params);
  const { allowedValues } = (choices.find((each) => 'allowedValues' in each) ?? {}) as {
    allowedValues?: readonly unknown[];
  };
  const message = found === 'schema is false' ? 'is not a field of this request' : found;
  const wanted = allowedValues === undefined ? message : `must be one of ${allowedValues.join(', ')}`;
  return field === '' ? `The body ${wanted}.` : `'${field}' ${wanted}.`;
}
