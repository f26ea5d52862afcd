import type { Context } from '../api/context.ts';
import type { Parameters } from '../presets/parameters.ts';
import { answerCurrent, type Report, type ReportQuery, type ReportRequest } from '../presets/report.ts';
import type { Sent } from './arguments.ts';

/** The caller of a tool, and the sources of data. */
export interface Call extends Omit<ReportRequest, 'id'> {
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

/** Runs a report as the API does: find, parse, plan, run. @param id the project; empty for the workspace */
export async function ask<Subject, Query extends ReportQuery, Result>(
  report: Report<Subject, Query, Result>,
  id: string,
  parameters: Sent,
  { context, ...caller }: Call,
): Promise<Result> {
  const request = { ...caller, id };
  return answerCurrent(async () => {
    const subject = await report.find(context, request);
    let query: Query;
    try {
      query = report.parse(parameters, subject, context.now());
    } catch (error) {
      await report.checkIds?.(parameters, subject, context.catalog);
      throw error;
    }
    return report.run(query, context, request);
  });
}
