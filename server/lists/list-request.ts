import type { Catalog } from '../catalog/catalog.ts';
import type { Project } from '../catalog/projects.ts';
import type { ListKey, ListKind, SourceKind } from '../catalog/stored-lists.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import type { Compare } from '../domain/comparison.ts';
import type { Range, RangeParameters } from '../domain/range.ts';
import type { Source } from './source.ts';
import type { Sources } from './sources.ts';

/** A list as it is asked for. */
export interface ListParameters {
  readonly kind: ListKind;
  readonly range: Range;
  readonly country: string | null;
  /** How the range was asked for, where it was worked out from something. */
  readonly parameters?: RangeParameters & { readonly compare?: Compare | undefined };
}

/** A list as a request means it, with what it can come from. */
export interface ListRequest {
  readonly key: ListKey;
  readonly project: Project;
  readonly kind: ListKind;
  readonly range: Range;
  readonly country: string | null;
  /** None where the list is known to be empty. */
  readonly sources: readonly Source[];
  /** What an empty list is reported to come from. */
  readonly source: SourceKind;
  readonly fromProvider: boolean;
  /** What the pages of one sequence have in common, although the list may be replaced between them. */
  readonly sequence: CacheKey;
}

/**
 * What a list is and where it can come from. Throws `unavailable` for a project without any source.
 * @param catalog the snapshot in which the project was read
 */
export async function planList(
  sources: Sources,
  project: Project,
  params: ListParameters,
  catalog: Catalog,
): Promise<ListRequest> {
  const { kind, range } = params;
  const { from, to, period, compare }: NonNullable<ListParameters['parameters']> = params.parameters ?? range;
  const choice = await sources.choose(project, kind, range, catalog);
  const { sourceKey, fromProvider } = choice;
  // A project of one country has no rows of another; its own facts are of that country already.
  const country = params.country ?? (fromProvider ? project.country : null);
  const isEmpty = fromProvider && project.country !== null && country !== project.country;
  // As it was asked, since the last day of an open range moves on, and without the revision, which a load raises.
  const origin = fromProvider ? sourceKey : 'facts';
  const sequence = cacheKey(project.id, kind, from ?? null, to ?? null, period ?? null, country, origin);
  return {
    key: { project: project.id, kind, from: range.from, to: range.to, country: country ?? '', sourceKey },
    project,
    kind,
    range,
    country,
    source: choice.sources[0]?.kind ?? 'bigquery',
    sources: isEmpty ? [] : choice.sources,
    fromProvider,
    sequence: compare === undefined ? sequence : cacheKey(sequence, compare),
  };
}
