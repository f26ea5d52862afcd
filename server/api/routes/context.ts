import type { RowFormat } from '../../formats/rows.ts';
import type { FormatName } from '../../reports/parameters.ts';
import type { ReportSources } from '../../reports/report.ts';
import type { SharedConcurrencyLimit } from '../../runtime/limits.ts';
import type { QueryCache } from '../query-cache.ts';
import type { ResponseCache } from '../response-cache.ts';

/** What routes answer from. */
export interface Context extends ReportSources {
  readonly queries: QueryCache;
  readonly cache: ResponseCache;
  /** Long answers pass here. */
  readonly longAnswers: SharedConcurrencyLimit;
  readonly rowFormats: Readonly<Record<Exclude<FormatName, 'json'>, RowFormat>>;
}
