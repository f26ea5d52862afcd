import type { Catalog } from '../catalog/catalog.ts';
import type { Project } from '../catalog/projects.ts';
import type { ListKey, ListKind } from '../catalog/stored-lists.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import type { Compare } from '../domain/comparison.ts';
import { invalidRequest } from '../domain/errors.ts';
import type { Range, RangeParameters } from '../domain/range.ts';
import type { Source } from './source.ts';
import type { Sources } from './sources.ts';

export interface ListParameters {
  readonly kind: ListKind;
  readonly range: Range;
  readonly country: string | null;
  /** The range parameters as sent, if the range was derived from them. */
  readonly parameters?: RangeParameters & { readonly compare?: Compare | undefined };
}

/** A requested list with its possible sources. */
export interface ListRequest {
  readonly key: ListKey;
  readonly project: Project;
  readonly kind: ListKind;
  readonly range: Range;
  readonly country: string | null;
  /** Empty if the list is known to be empty. */
  readonly sources: readonly Source[];
  /** The reported source of an empty list. */
  readonly source: string;
  readonly fromProvider: boolean;
  /** Identifies a page sequence, even if the list is replaced between its pages. */
  readonly sequence: CacheKey;
}

/**
 * Resolves the key and sources of a list. Throws `unavailable` for a project without a source, and `invalid_request` for a
 * range or country that the stored lists do not have.
 * @param catalog the snapshot from which the project was read
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
  if (params.country !== null && !choice.hasCountries) {
    throw invalidRequest(`country must be left out: the countries of the ${kind} of this range are unknown.`);
  }
  // A project with a country has no rows of other countries; its stored facts are already filtered.
  const country = params.country ?? (fromProvider ? project.country : null);
  const isEmpty = fromProvider && project.country !== null && country !== project.country;
  // Uses the range as sent, because the end of an open range moves, and no revision, because a load increments it.
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
