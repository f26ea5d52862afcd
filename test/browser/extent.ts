import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({ options: { whole: { type: 'boolean' } }, allowPositionals: true });

/** The parts that are named. */
export const NAMED: readonly string[] = positionals;

/** Whether parts run whole: at night, and where they are named. Every change runs a smoke test of each screen. */
export const isWhole = values.whole === true || NAMED.length > 0;

/** For tests that only a whole run has. */
export const wholeOnly: { readonly skip?: string } = isWhole ? {} : { skip: '--whole runs it' };
