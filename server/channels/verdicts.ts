import type { DigestVerdict } from '../catalog/delivery-body.ts';
import { listNotes, type Note } from '../catalog/events.ts';
import type { Project } from '../catalog/projects.ts';
import { type Day, dayOf, later } from '../domain/dates.ts';
import { KnownError } from '../domain/errors.ts';
import { lastFinalDay } from '../presets/effects.ts';
import { canBeJudged, lastJudgedDay, noteVerdict } from '../presets/note-verdicts.ts';
import type { ReportRequest, ReportSources } from '../presets/report.ts';

/** Which verdicts are news. */
export interface NewVerdicts {
  /** Ids of notes that were listed before. */
  readonly listed: ReadonlySet<string>;
  /** The first and last day on which verdicts became known: their days had ended, and their notes were written. */
  readonly from: Day;
  readonly to: Day;
}

/** The verdicts on noted changes of a project that are news and stay as they are. */
export async function verdictsOf(
  sources: ReportSources,
  project: Project,
  { listed, from, to }: NewVerdicts,
  request: ReportRequest,
): Promise<DigestVerdict[]> {
  const { id, workspaceId: workspace } = project;
  const final = lastFinalDay(project, sources.now());
  const isNews = (note: Note): boolean => {
    const ended = lastJudgedDay(note);
    const known = later(ended, dayOf(note.createdAt / 1000));
    return ended <= final && known >= from && known <= to && !listed.has(note.id);
  };
  const all = { project: id, workspace, from: null, to: null, clientVisible: false };
  const notes = (await listNotes(sources.catalog, all)).filter((note) => canBeJudged(note) && isNews(note));
  const verdicts: DigestVerdict[] = [];
  for (const note of notes) {
    request.signal.throwIfAborted();
    try {
      const judged = await noteVerdict(sources, project, note, request);
      const { id: of, date, text, page, keyword, group } = note;
      const link = `/app/p/${encodeURIComponent(id)}/effect?note=${of}`;
      verdicts.push({ note: { id: of, date, text, page, keyword, group }, ...judged, link });
    } catch (error) {
      // It may have been removed meanwhile.
      if (!(error instanceof KnownError)) throw error;
    }
  }
  return verdicts;
}
