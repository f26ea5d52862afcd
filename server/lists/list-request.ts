import { createHash } from 'node:crypto';
import type { Catalog } from '../catalog/catalog.ts';
import type { Project } from '../catalog/projects.ts';
import type { ListKey, ListKind, ListPair } from '../catalog/stored-lists.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import type { Compare } from '../domain/comparison.ts';
import { invalidRequest } from '../domain/errors.ts';
import type { Range, RangeParameters } from '../domain/range.ts';
import { isOtherEngine, type SearchType, type Surface, typeOf } from '../model/surfaces.ts';
import type { Source } from './source.ts';
import type { Sources } from './sources.ts';

export interface ListParameters {
  readonly kind: ListKind;
  readonly range: Range;
  readonly country: string | null;
  /** Left out for web. */
  readonly type?: Surface | undefined;
  /** Left out for whole lists. */
  readonly pair?: ListPair | undefined;
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
  readonly type: SearchType;
  /** Null for whole lists. */
  readonly pair: ListPair | null;
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
  const { kind, range, type = 'web', pair = null } = params;
  const { from, to, period, compare }: NonNullable<ListParameters['parameters']> = params.parameters ?? range;
  const rangeName = compare === undefined ? 'from and to' : 'compare';
  const choice = await sources.choose(project, { kind, range, type, pair, named: rangeName }, catalog);
  const { sourceKey, fromProvider } = choice;
  if (params.country !== null && !choice.hasCountries) {
    throw invalidRequest(`country must be left out: the countries of the ${kind} of this range are unknown.`);
  }
  if (pair !== null && pair.device !== null && !fromProvider) {
    throw invalidRequest('device must be left out: the devices of pairs of queries and pages are unknown.');
  }
  // A project with a country has no rows of other countries; its stored facts are already filtered.
  const ofProject = fromProvider && choice.hasCountries ? project.country : null;
  const country = params.country ?? ofProject;
  const isEmpty = ofProject !== null && country !== ofProject;
  // Uses the range as sent, because the end of an open range moves, and no revision, because a load increments it.
  const origin = fromProvider ? sourceKey : 'facts';
  const whole = cacheKey(project.id, kind, from ?? null, to ?? null, period ?? null, country, origin);
  const named = type === 'web' ? [] : [type];
  const sequence = pair === null && type === 'web' ? whole : cacheKey(whole, pair, ...named);
  const selection = pair === null && type === 'web' ? '' : hashOf(cacheKey(pair, choice.namesRevision, ...named));
  return {
    key: { project: project.id, kind, from: range.from, to: range.to, country: country ?? '', selection, sourceKey },
    project,
    kind,
    range,
    country,
    type: typeOf(type),
    pair,
    source: choice.sources[0]?.kind ?? (isOtherEngine(type) ? type : 'bigquery'),
    sources: isEmpty ? [] : choice.sources,
    fromProvider,
    sequence: compare === undefined ? sequence : cacheKey(sequence, compare),
  };
}

/** Short enough for an index, unlike addresses of pages. */
function hashOf(key: CacheKey): string {
  return createHash('sha256').update(key).digest('hex');
}
