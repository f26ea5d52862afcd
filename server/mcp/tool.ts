import type { Context } from '../api/context.ts';
import type { Parameters } from '../presets/parameters.ts';
import { type Answering, answerCurrent, type PresetQuery, type PresetRequest } from '../presets/preset.ts';
import type { Sent } from './arguments.ts';

/** The caller of a tool, and the sources of data. */
export interface Call extends Omit<PresetRequest, 'id'> {
  readonly context: Context;
}

/** A tool of the MCP server. All of them only read. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For the model that chooses a tool. */
  readonly description: string;
  readonly parameters: Parameters;
  readonly required: readonly string[];
  /** The result, as a JSON value. Throws `KnownError`. */
  readonly run: (sent: Sent, call: Call) => Promise<object>;
}

/** Runs a preset as the API does: find, parse, plan, run. @param id the project; empty for the workspace */
export async function ask<Subject, Query extends PresetQuery, Result>(
  preset: Answering<Subject, Query, Result>,
  id: string,
  parameters: Sent,
  { context, ...caller }: Call,
): Promise<Result> {
  const request = { ...caller, id };
  return answerCurrent(async () => {
    const subject = await preset.find(context, request);
    let query: Query;
    try {
      query = preset.parse(parameters, subject, context.now());
    } catch (error) {
      await preset.checkIds?.(parameters, subject, context.catalog);
      throw error;
    }
    return preset.run(query, context, request);
  });
}
