import { type TSchema, Type } from 'typebox';
import type { Parameter } from './parameters.ts';

/** The longest question, in characters. */
const MAX_QUESTION = 100_000;

/** A question as JSON. It is read by `parseQuestion`, whose messages name the part that is wrong. */
export const questionParameter: Parameter<TSchema, string> & { fallback: string } = {
  schema: Type.String({
    maxLength: MAX_QUESTION,
    description:
      'The question as JSON, as in the body of POST: `{"dimensions":["month","country"]}`; the totals of the last 28 days by default.',
  }),
  expected: `a question as JSON of at most ${MAX_QUESTION} characters`,
  decode: (text) => (text.length <= MAX_QUESTION ? text : undefined),
  fallback: '{}',
};
