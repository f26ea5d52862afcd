import type { RowFormatName } from '../domain/formats.ts';
import type { RowFormat } from '../formats/rows.ts';
import type { PresetSources } from '../presets/preset.ts';
import type { SharedConcurrencyLimit } from '../runtime/limits.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { RecentRequests } from './follow-publications.ts';
import type { QueryCache } from './query-cache.ts';
import type { ResponseCache } from './response-cache.ts';

/** The dependencies of routes. */
export interface Context extends PresetSources {
  readonly rowFormats: Readonly<Record<RowFormatName, RowFormat>>;
  readonly queries: QueryCache;
  readonly cache: ResponseCache;
  readonly recent: RecentRequests;
  /** Limits concurrent long responses. */
  readonly longAnswers: SharedConcurrencyLimit;
  /** Runs statements of clients, if the operator allows them. */
  readonly sandbox: Sandbox | undefined;
}
