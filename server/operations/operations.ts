import { FAVOURITE_OPERATIONS } from './favourites.ts';
import { INVITATION_OPERATIONS, MEMBER_OPERATIONS } from './members.ts';
import type { Operation } from './operation.ts';
import { TAG_OPERATIONS } from './tags.ts';
import { VIEW_OPERATIONS } from './views.ts';

/** All that is declared as operations. */
export const OPERATIONS: readonly Operation[] = [
  ...VIEW_OPERATIONS,
  ...TAG_OPERATIONS,
  ...FAVOURITE_OPERATIONS,
  ...MEMBER_OPERATIONS,
  ...INVITATION_OPERATIONS,
];
