import { type TSchema, Type } from 'typebox';
import type { FactTable } from '../catalog/manifest.ts';
import { invalidRequest } from '../domain/errors.ts';
import { hasDevices, SEARCH_TYPES, type SearchType, TYPE_TABLES } from '../domain/search-types.ts';
import type { Device } from '../facts/facts.ts';
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

/** A part of query values: the type, left out for web. */
export interface OfType {
  readonly type?: SearchType;
}

/** The tables of a search type. */
export function tablesOfType(type: SearchType = 'web'): { readonly site: FactTable; readonly country: FactTable } {
  return type === 'web' ? { site: 'site_daily', country: 'country_daily' } : TYPE_TABLES[type];
}

/** The property of a query value; none for web, so that nothing changes for requests without a type. */
export function ofType(type: SearchType): OfType {
  return type === 'web' ? {} : { type };
}

/** Throws `invalid_request` for a device of a type without devices. */
export function checkDevice(type: SearchType, device: Device): void {
  if (device === 'all' || hasDevices(type)) return;
  throw invalidRequest(`device must be left out, not '${device}': the search engine tells no devices of ${type}.`);
}
