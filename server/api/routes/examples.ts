import { readFileSync } from 'node:fs';

/** A recorded request path and its response. */
interface Example {
  readonly request: string;
  readonly answer: unknown;
}

/** Examples by operation and status. A test repeats each request and compares the response. */
const EXAMPLES = JSON.parse(readFileSync(new URL('examples.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, Readonly<Record<string, Example>>>
>;

interface Response {
  readonly content?: { readonly 'application/json': object };
}

/** Adds the examples of an operation to its response schemas. */
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
