import { type TObject, type TProperties, type TSchema, Type } from 'typebox';

/**
 * An object with exactly these properties, all required.
 * @param title its name among the schemas of the OpenAPI document (`api/plugins/openapi-document.ts`)
 */
export function object<Properties extends TProperties>(
  title: string,
  properties: Properties,
  options: { description?: string } = {},
): TObject<Properties> {
  return Type.Object(properties, { title, ...options, additionalProperties: false });
}

export function nullable<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

/** An enumeration of strings. @param title its name, as for objects */
export function oneOf<const Words extends readonly string[]>(title: string, words: Words, description?: string) {
  return Type.Unsafe<Words[number]>({ title, type: 'string', enum: words, ...(description ? { description } : {}) });
}

/**
 * An enumeration that later versions may extend. Without `enum`, generated clients accept new values, and have no type
 * for each such property.
 */
export function openWords<const Words extends readonly string[]>(words: Words, description?: string) {
  const help = `${description === undefined ? '' : `${description} `}One of ${words.join(', ')}; more may be added.`;
  return Type.Unsafe<Words[number]>({ type: 'string', description: help });
}

/** An integer. Without the format, generated clients may use 32 bits. */
export function integer(options: { minimum?: number; description?: string } = {}) {
  return Type.Integer({ format: 'int64', ...options });
}

export const day = Type.String({ format: 'date', description: 'A day, YYYY-MM-DD.' });
export const instant = Type.String({ format: 'date-time', description: 'An instant in UTC, with milliseconds.' });
export const shortIdPattern = '^[A-Za-z0-9]{5}$';
export const shortId = Type.String({ pattern: shortIdPattern, description: 'A short id.' });
export const uuid = Type.String({ format: 'uuid' });
