import type { Context } from '../api/routes/context.ts';
import type { Project } from '../catalog/projects.ts';
import type { Parameters } from '../reports/parameters.ts';
import {
  findReportProject,
  type Parser,
  type ProjectQuery,
  type Report,
  rejectParameters,
  runReport,
} from '../reports/report.ts';
import type { Sent } from './arguments.ts';

/** Who calls a tool, and the sources that it is answered from. */
export interface Call {
  readonly context: Context;
  readonly workspace: string;
  /** The projects that the key may read; null: all of the workspace. */
  readonly projects: readonly string[] | null;
  /** What rate limits count by: all pages that it reads of a list come from the same list. */
  readonly reader: string;
  /** Aborted when the client has gone or time is up. */
  readonly signal: AbortSignal;
}

/** A tool of the MCP server. All of them only read. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For the model that chooses a tool. */
  readonly description: string;
  readonly parameters: Parameters;
  readonly required: readonly string[];
  /** The answer, as a JSON value. Throws `KnownError`. */
  readonly run: (sent: Sent, call: Call) => Promise<object>;
}

/** Runs a report as the API does: find the project, parse, plan, run. */
export async function ask<Query extends ProjectQuery, Plan, Result>(
  report: Report<Query, Plan, Result>,
  id: string,
  parameters: Sent,
  { context, workspace, projects, reader, signal }: Call,
): Promise<Result> {
  const project = await findReportProject(context, { workspace, id });
  const query = await parse(report, context, project, parameters);
  const caller = { signal, reader, onStage: () => {} };
  return runReport(report, query, context, { workspace, projects, id, parameters }, caller);
}

async function parse<Query extends ProjectQuery>(
  report: Parser<Query>,
  context: Context,
  project: Project,
  parameters: Sent,
): Promise<Query> {
  try {
    return report.parse(parameters, project, context.now());
  } catch (error) {
    return rejectParameters(report, context, project, parameters, error);
  }
}
