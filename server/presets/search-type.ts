import { type TSchema, Type } from 'typebox';
import type { Catalog } from '../catalog/catalog.ts';
import { readCoverage } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import { type LastDays, lastReportedDay, readLastDays } from '../catalog/sync-days.ts';
import type { Day } from '../domain/dates.ts';
import { invalidRequest, type KnownError } from '../domain/errors.ts';
import { leavesOf } from '../domain/predicate.ts';
import type { Selection } from '../domain/select-rows.ts';
import type { Device } from '../facts/facts.ts';
import {
  ENGINES,
  isOtherEngine,
  OTHER_ENGINES,
  type OtherEngine,
  SEARCH_TYPES,
  type SearchEngine,
  type SearchType,
  SURFACES,
  type Surface,
} from '../model/surfaces.ts';
import { countryTable, type FactTable, siteTable } from '../model/tables.ts';
import type { Parameter } from './parameters.ts';

/** Without `enum`, generated clients need no type for it. */
export const searchType: Parameter<TSchema, SearchType> & { fallback: SearchType } = {
  schema: Type.String({
    pattern: `^(${SEARCH_TYPES.join('|')})$`,
    default: 'web',
    description: `Only results of this search type: ${SEARCH_TYPES.join(', ')}. Types are counted separately: their impressions and positions cannot be compared or added up. discover and googleNews have no positions, discover has no devices.`,
  }),
  expected: `one of ${SEARCH_TYPES.join(', ')}`,
  decode: (text) => SEARCH_TYPES.find((type) => type === text),
  fallback: 'web',
};

/** What an engine has, in a sentence. */
function termsOf(engine: OtherEngine): string {
  const { label, hasDailyPositions } = SURFACES[engine];
  const positions = hasDailyPositions ? '' : ' without positions';
  return `${label} has days of the site${positions}, and weeks of pages and queries; it has no countries, devices and search types.`;
}

export const searchEngine: Parameter<TSchema, SearchEngine> & { fallback: SearchEngine } = {
  schema: Type.String({
    pattern: `^(${ENGINES.join('|')})$`,
    default: 'google',
    description: `The search engine that counted: ${ENGINES.join(' or ')}. Engines are never added up. ${OTHER_ENGINES.map(termsOf).join(' ')}`,
  }),
  expected: `one of ${ENGINES.join(', ')}`,
  decode: (text) => ENGINES.find((engine) => engine === text),
  fallback: 'google',
};

/** A part of query values: the type, left out for web. */
export interface OfType {
  readonly type?: SearchType;
}

/** The same of surfaces. */
export interface OfSurface {
  readonly type?: Surface;
}

/** The tables of a surface; other engines tell no countries. */
export function tablesOfType(type?: SearchType): { readonly site: FactTable; readonly country: FactTable };
export function tablesOfType(type?: Surface): { readonly site: FactTable; readonly country?: FactTable };
export function tablesOfType(type: Surface = 'web'): { readonly site: FactTable; readonly country?: FactTable } {
  const country = countryTable(type);
  return { site: siteTable(type), ...(country && { country }) };
}

/** The property of a query value; none for web, so that nothing changes for requests without a type. */
export function ofType(type: SearchType): OfType;
export function ofType(type: Surface): OfSurface;
export function ofType(type: Surface): OfSurface {
  return type === 'web' ? {} : { type };
}

/**
 * Throws `invalid_request` for what an engine does not have.
 * @param isSent whether other parameters that it lacks are sent
 * @param project left out where there are several
 */
export function surfaceOf(
  engine: SearchEngine,
  type: SearchType,
  isSent: Readonly<Record<string, boolean>> = {},
  project?: Pick<Project, 'country'>,
): Surface {
  if (engine === 'google') return type;
  const { label } = SURFACES[engine];
  for (const [name, isWrong] of Object.entries({ type: type !== 'web', ...isSent })) {
    if (isWrong) throw invalidRequest(`${name} must be left out with engine=${engine}: ${label} tells none.`);
  }
  if (project !== undefined && project.country !== null) throw hasNoCountry(engine, project.country);
  return engine;
}

/** Throws `invalid_request` for an engine that does not have what a preset is about. */
export function checkEngine(engine: SearchEngine, what: string): void {
  if (engine !== 'google') throw invalidRequest(`engine must be google: ${SURFACES[engine].label} tells no ${what}.`);
}

/** The error for a project of one country: an engine's numbers are those of all countries. */
export function hasNoCountry(engine: OtherEngine, country: string): KnownError {
  return invalidRequest(
    `engine must be google: the project has only searches from ${country}, and ${SURFACES[engine].label} tells no countries.`,
  );
}

/** The error for a project without days of an engine. */
export function hasNoDays(engine: OtherEngine): KnownError {
  return invalidRequest(`engine must be google: the project has no stored days of ${SURFACES[engine].label}.`);
}

/**
 * A project as one of its surfaces: synced through the last day that the surface has, because days that it has not reported
 * yet are unknown, not zeros; and final through its own last final day.
 * @param stored the last stored day of the surface's site table; none if it has no days
 * @param known what the sync knows of that table
 */
export function projectOf(
  type: Surface | undefined,
  project: Project,
  stored: Day | undefined,
  known: LastDays | undefined,
): Project {
  if (type === undefined || type === 'web') return project;
  return {
    ...project,
    syncedThrough: lastReportedDay(project, stored, known),
    provisionalAfter: isOtherEngine(type) ? null : (known?.final ?? project.provisionalAfter),
  };
}

/** `projectOf`, as stored. */
export async function readProjectOf(catalog: Catalog, type: Surface | undefined, project: Project): Promise<Project> {
  if (type === undefined || type === 'web') return project;
  const { site } = tablesOfType(type);
  const coverage = await readCoverage(catalog, project.id);
  return projectOf(type, project, coverage[site]?.lastDay, await readLastDays(catalog, project.id, site));
}

/** Throws `invalid_request` for a device of a type without devices. */
export function checkDevice(type: SearchType, device: Device): void {
  if (device === 'all' || SURFACES[type].hasDevices) return;
  throw invalidRequest(`device must be left out, not '${device}': the search engine tells no devices of ${type}.`);
}

/** Throws `invalid_request` for positions in a filter or order. @param surface one without positions */
export function refusePositions(surface: Surface, { filter, sort }: Selection): void {
  const named = [...(filter === null ? [] : leavesOf(filter)), ...(sort ?? [])];
  if (!named.some(({ field }) => field === 'position')) return;
  throw invalidRequest(
    isOtherEngine(surface)
      ? `engine must not be ${surface} with position: its days have no positions.`
      : `type must not be ${surface} with position: it has no positions.`,
  );
}

/** How the range of a response names its surface; nothing for web. */
export function surfaceRange(type: Surface | undefined): { readonly engine?: OtherEngine; readonly type?: SearchType } {
  if (type === undefined) return {};
  return isOtherEngine(type) ? { engine: type } : { type };
}
