import type { Column } from '../../server/formats/rows.ts';

/** A column of each type. */
export const COLUMNS: readonly Column[] = [
  { name: 'query', type: 'text' },
  { name: 'groupIds', type: 'ids' },
  { name: 'date', type: 'day' },
  { name: 'createdAt', type: 'instant' },
  { name: 'clicks', type: 'count' },
  { name: 'ctr', type: 'ratio' },
  { name: 'branded', type: 'boolean' },
];
