import { type TSchema, Type } from 'typebox';
import type { Parameter } from './parameters.ts';

/** Any of some words; all by default. */
export function choices<const Choices extends readonly string[]>(
  words: Choices,
  description: string,
): Parameter<TSchema, readonly Choices[number][]> & { fallback: Choices } {
  // Without `enum`, so that generated clients take words that later versions add.
  const item = Type.Unsafe<Choices[number]>({ type: 'string', description: `One of ${words.join(', ')}.` });
  return {
    schema: Type.Array(item, { description, minItems: 1 }),
    expected: `one or more of ${words.join(', ')}`,
    decode: (text) => {
      const named = text.split(',').map((word) => words.find((candidate) => candidate === word));
      return named.includes(undefined) ? undefined : words.filter((word) => named.includes(word));
    },
    fallback: words,
    combine: (lists: readonly (readonly Choices[number][])[]) => words.filter((word) => lists.flat().includes(word)),
  };
}

/** A decimal number, written without an exponent. */
export function decimal(
  bounds: { minimum: number; maximum: number },
  fallback: number,
  description: string,
): Parameter<TSchema, number> & { fallback: number } {
  const { minimum, maximum } = bounds;
  return {
    schema: Type.Number({ format: 'double', ...bounds, default: fallback, description }),
    expected: `a number from ${minimum} to ${maximum}`,
    decode: (text) => {
      const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
      return number >= minimum && number <= maximum ? number : undefined;
    },
    fallback,
  };
}
