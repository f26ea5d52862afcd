import { readFileSync } from 'node:fs';

/** An answer as a server gave it, with the request that it answers (below the API's root). */
interface Example {
  readonly request: string;
  readonly answer: unknown;
}

/** By operation and status. A test asks each of them again and finds the same answer. */
const EXAMPLES = JSON.parse(readFileSync(new URL('examples.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, Readonly<Record<string, Example>>>
>;

interface Response {
  readonly content?: { readonly 'application/json': object };
}

/** The response schemas of an operation with its examples. */
export function withExamples(operation: string, responses: object): object {
  return Object.fromEntries(
    Object.entries(responses as Readonly<Record<string, Response>>).map(([status, response]) => {
      const example = EXAMPLES[operation]?.[status];
      if (example === undefined || response.content === undefined) return [status, response];
      const examples = { example: { summary: `GET ${example.request}`, value: example.answer } };
      const json = { ...response.content['application/json'], examples };
      return [status, { ...response, content: { ...response.content, 'application/json': json } }];
    }),
  );
}
