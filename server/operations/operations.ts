import type { Usage } from '../catalog/usage.ts';
import type { Stores } from '../load/stores.ts';
import type { PresetSources } from '../presets/preset.ts';
import { BRAND_TERM_OPERATIONS } from './brand-terms.ts';
import { CHANNEL_OPERATIONS } from './channels.ts';
import { FAVOURITE_OPERATIONS } from './favourites.ts';
import { FEED_OPERATIONS } from './feeds.ts';
import { FINDING_OPERATIONS } from './findings.ts';
import { GROUP_OPERATIONS } from './groups.ts';
import { KEY_OPERATIONS } from './keys.ts';
import { KEYWORD_OPERATIONS } from './keywords.ts';
import { INVITATION_OPERATIONS, MEMBER_OPERATIONS } from './members.ts';
import { NOTE_OPERATIONS } from './notes.ts';
import type { Operation } from './operation.ts';
import { RULE_OPERATIONS } from './rules.ts';
import { SHARE_OPERATIONS } from './shares.ts';
import { TAG_OPERATIONS } from './tags.ts';
import { VIEW_OPERATIONS } from './views.ts';

/** What the dashboard has for operations. */
export type OperationNeeds = PresetSources & Stores & { readonly usage: Usage };

/** All that is declared as operations. */
export const OPERATIONS: readonly Operation<OperationNeeds>[] = [
  ...NOTE_OPERATIONS,
  ...KEYWORD_OPERATIONS,
  ...GROUP_OPERATIONS,
  ...BRAND_TERM_OPERATIONS,
  ...RULE_OPERATIONS,
  ...VIEW_OPERATIONS,
  ...TAG_OPERATIONS,
  ...FAVOURITE_OPERATIONS,
  ...FINDING_OPERATIONS,
  ...KEY_OPERATIONS,
  ...CHANNEL_OPERATIONS,
  ...SHARE_OPERATIONS,
  ...FEED_OPERATIONS,
  ...MEMBER_OPERATIONS,
  ...INVITATION_OPERATIONS,
];
