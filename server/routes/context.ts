import type { Catalog } from '../catalog/catalog.ts';
import type { KnownCatalog } from '../catalog/known.ts';
import type { TrackedKeywordsCache } from '../catalog/tracked.ts';
import type { Facts } from '../facts/facts.ts';
import type { SharedConcurrencyLimit } from '../runtime/limits.ts';
import type { Lists } from '../lists/lists.ts';
import type { KeptAnswers } from './kept-answer.ts';

/** What routes answer from. */
export interface Context {
  readonly catalog: Catalog;
  readonly known: KnownCatalog;
  readonly tracked: TrackedKeywordsCache;
  readonly facts: Facts;
  readonly lists: Lists;
  readonly kept: KeptAnswers;
  /** Long answers pass here. */
  readonly longAnswers: SharedConcurrencyLimit;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
}
