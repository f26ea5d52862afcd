import { type TSchema, Type } from 'typebox';
import { invalidRequest } from '../domain/errors.ts';
import type { Parameter, Parameters } from '../presets/parameters.ts';

/** The arguments of a call, as texts like those of an HTTP request. */
export type Sent = Readonly<Record<string, string>>;

/** The argument that names a project. An unknown id is rejected where the project is looked up. */
export const project: Parameter<TSchema, string> = {
  schema: Type.String({ description: 'Id of a project, from list_projects.' }),
  expected: 'the id of a project',
  decode: (text) => text,
};

/** A parameter of a preset, with another description where the tool needs one. */
export function parameterOf(
  { operation, parameters }: { readonly operation: string; readonly parameters: Parameters },
  name: string,
  description?: string,
): Parameter {
  const parameter = parameters[name];
  if (parameter === undefined) throw new Error(`${operation} has no parameter ${name}`);
  return description === undefined ? parameter : { ...parameter, schema: { ...parameter.schema, description } };
}

/** The JSON schema of a tool's arguments. */
export function argumentsSchema(parameters: Parameters, required: readonly string[]): TSchema {
  const properties = Object.entries(parameters).map(([name, { schema }]) => {
    // The names are those of the OpenAPI document.
    const { title: _, ...rest } = schema as { title?: string };
    return [name, rest] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required,
    additionalProperties: false,
  } as TSchema;
}

/**
 * Converts the arguments of a call to texts, which presets parse like those of a request. Agents send numbers,
 * booleans, and filters as JSON. Throws `invalid_request` for missing and unknown arguments, so that an agent notices
 * that it misspelled one.
 */
export function readArguments(
  tool: string,
  given: Readonly<Record<string, unknown>>,
  parameters: Parameters,
  required: readonly string[],
): Sent {
  const sent: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(parameters, name)) {
      throw invalidRequest(`${tool} has no argument ${name}; it has ${Object.keys(parameters).join(', ') || 'none'}.`);
    }
    const { schema, expected } = parameters[name]!;
    const takesLists = name === 'sort' || (schema as { type?: string }).type === 'array';
    if (Array.isArray(value) && !takesLists) throw invalidRequest(`${name} must be ${expected}, not a list.`);
    if (value !== undefined && value !== null) sent[name] = textOf(value);
  }
  for (const name of required) {
    if (sent[name] === undefined) {
      const { expected } = parameters[name]!;
      throw invalidRequest(`${name} is missing; it must be ${expected}.`);
    }
  }
  return sent;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.map(textOf).join(',') : JSON.stringify(value);
}

/** Throws `invalid_request` for arguments that do not apply to a preset. */
export function argumentsFor(what: string, sent: Sent, parameters: Parameters): Sent {
  for (const name of Object.keys(sent)) {
    if (!Object.hasOwn(parameters, name)) throw invalidRequest(`${name} does not apply to ${what}; leave it out.`);
  }
  return sent;
}
