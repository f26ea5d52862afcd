import type { Note } from '../catalog/events.ts';
import type { Project } from '../catalog/projects.ts';
import type { EffectReason, Verdict } from '../effects/verdict.ts';
import { effectsReport } from './effects.ts';
import { answerCurrent, type ReportRequest, type ReportSources } from './report.ts';

/** The verdict on the change that a note is about. */
export interface NoteVerdict {
  readonly verdict: Verdict;
  readonly reasons: readonly EffectReason[];
  /** The verdict in a sentence. */
  readonly text: string;
}

/** The verdict on a note of a project, with the usual windows. Throws `not_found` for a note that is gone. */
export function noteVerdict(
  sources: ReportSources,
  { id, workspaceId: workspace }: Pick<Project, 'id' | 'workspaceId'>,
  { id: note }: Note,
  { reader, signal }: Pick<ReportRequest, 'reader' | 'signal'>,
): Promise<NoteVerdict> {
  const request = { workspace, projects: null, id, reader, signal };
  return answerCurrent(async () => {
    const query = effectsReport.parse({ note }, await effectsReport.find(sources, request), sources.now());
    const { verdict, reasons, text } = await effectsReport.run(query, sources, request);
    return { verdict, reasons, text };
  });
}
