import type { FastifyRequest } from 'fastify';
import type { RowFormat } from '../../formats/rows.ts';
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
  /** The format of flat rows that a request wants in place of JSON; the API itself offers none yet. */
  readonly rowFormat: (request: FastifyRequest) => RowFormat | undefined;
}
