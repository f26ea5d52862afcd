import { type KnownError, unavailable } from '../../domain/errors.ts';
import { UnreadableHere } from '../reader.ts';

/** The error of a query in Trino's protocol. */
export interface TrinoError {
  readonly errorName: string;
  readonly errorType: string;
  readonly message?: string;
}

const STORAGE_AWAY = 'the query engine cannot read its storage';
/** Names of transient errors, and the message for clients. */
const PASSING: readonly (readonly [RegExp, string])[] = [
  [
    /^(REMOTE_(TASK|HOST)|PAGE_TRANSPORT|TOO_MANY_REQUESTS_FAILED|ABANDONED|NO_NODES|SERVER_|CLUSTER_STARTING)/,
    'a machine of the query engine ended or did not answer',
  ],
  [/^(EXCEEDED_TIME_LIMIT|ADMINISTRATIVELY_(KILLED|PREEMPTED)|EXCEEDED_CPU_LIMIT)$/, 'the query engine stopped it'],
  [/^(QUERY_QUEUE_FULL|QUERY_REJECTED|CLUSTER_OUT_OF_MEMORY|EXCEEDED_\w*MEMORY_LIMIT)$/, 'the query engine is busy'],
  [/^HIVE_(FILESYSTEM_ERROR|METASTORE_ERROR|CANNOT_OPEN_SPLIT|CURSOR_ERROR)$/, STORAGE_AWAY],
];
/** A storage failure in the middle of a file, which Trino does not classify. */
const CUT = /^java\.io\.\w+: /;

/** Trino cannot decode a file, which DuckDB can. */
const UNREADABLE = /\b(Could not decompress page|Could not decode the dictionary|Error reading dictionary page)\b/;

/** A 503: Trino cannot answer now. */
export function trinoUnavailable(why: string, cause?: unknown): KnownError {
  return unavailable(`The answer is not available right now: ${why}.`, 'trino', cause);
}

/** The failure of a query. */
export function queryFailure(error: TrinoError, id: string): Error {
  const cause = new Error(`Trino: ${error.errorName}: ${error.message ?? ''} (query ${id})`);
  // First, because Trino reports a dictionary that it cannot decode as a split that it cannot open.
  if (UNREADABLE.test(error.message ?? '')) return new UnreadableHere(cause.message);
  const passing = PASSING.find(([names]) => names.test(error.errorName));
  if (passing !== undefined) return trinoUnavailable(passing[1], cause);
  if (CUT.test(error.message ?? '')) return trinoUnavailable(STORAGE_AWAY, cause);
  if (error.errorType === 'INSUFFICIENT_RESOURCES') return trinoUnavailable('the query engine is busy', cause);
  return cause;
}
