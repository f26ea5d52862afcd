import type { Note } from '../catalog/events.ts';
import type { Project } from '../catalog/projects.ts';
import type { Day } from '../domain/dates.ts';
import { windowsOf } from '../effects/scores.ts';
import type { EffectReason, Verdict } from '../effects/verdict.ts';
import { effectsReport, USUAL_LENGTHS } from './effects.ts';
import { askReport, type ReportRequest, type ReportSources } from './report.ts';

/** The verdict on the change that a note is about. */
export interface NoteVerdict {
  readonly verdict: Verdict;
  readonly reasons: readonly EffectReason[];
  /** The verdict in a sentence. */
  readonly text: string;
}

/** Whether something unchanged is left to compare with: the effect of a note on a whole project cannot be judged. */
export function canBeJudged({ scope }: Note): boolean {
  return scope !== 'project' && scope !== 'workspace';
}

/** The last of the days by which a note is judged. */
export function lastJudgedDay({ date }: Note): Day {
  return windowsOf(date, USUAL_LENGTHS).after.to;
}

/** The verdict on a note of a project, with the usual windows. Throws `not_found` for a note that is gone. */
export async function noteVerdict(
  sources: ReportSources,
  { id, workspaceId: workspace }: Pick<Project, 'id' | 'workspaceId'>,
  { id: note }: Note,
  { reader, signal }: Pick<ReportRequest, 'reader' | 'signal'>,
): Promise<NoteVerdict> {
  const request = { workspace, projects: null, id, reader, signal };
  const { verdict, reasons, text } = await askReport(effectsReport, sources, request, { note });
  return { verdict, reasons, text };
}
