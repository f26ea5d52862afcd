import {
  Counter,
  collectDefaultMetrics,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import {
  LEASE_OUTCOMES,
  onMeasured,
  POSTGRES_WAITS,
  STATEMENT_OUTCOMES,
  STORAGE_REQUESTS,
} from '../runtime/measurements.ts';

/** Metrics of one process as plain data, which can be sent to another process and merged there. */
export type Collected = readonly MetricObjectWithValues<MetricValue<string>>[];

/** The role of a process, the label of all its series. Several servers are numbered. */
export type ProcessName = 'server' | `server-${number}` | 'jobs';

/** Default metrics that have many series and are of little use. */
const NOT_NEEDED = [
  'nodejs_heap_space_size_total_bytes',
  'nodejs_heap_space_size_used_bytes',
  'nodejs_heap_space_size_available_bytes',
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
  'nodejs_active_resources',
  'nodejs_active_resources_total',
];

/** Buckets of work with providers and jobs, in seconds. */
const LONG = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1200];

/** Buckets of waits that requests have, in seconds. */
const SHORT = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5];

/**
 * The metrics of this process: memory, processor, event loop, and what modules measure (`runtime/measurements.ts`).
 * Metrics of requests are added to its registry by the server.
 */
export class ProcessMetrics {
  readonly registry = new Registry();
  readonly #stops: (() => void)[] = [];

  constructor(name: ProcessName) {
    this.registry.setDefaultLabels({ process: name });
    collectDefaultMetrics({ register: this.registry });
    for (const metric of NOT_NEEDED) this.registry.removeSingleMetric(metric);
    this.#watchProviders();
    this.#watchJobs();
    this.#watchTrino();
    this.#watchStorage();
    this.#watchPostgres();
    this.#watchLeases();
    this.#watchDeliveries();
    this.#watchStatements();
  }

  collect(): Promise<Collected> {
    return this.registry.getMetricsAsJSON() as Promise<Collected>;
  }

  close(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  #watchProviders(): void {
    const requests = this.#counter('provider_requests', 'Requests to providers.', ['provider', 'outcome']);
    const requestTimes = this.#times('provider_request', 'Time of requests to providers.', ['provider']);
    const fetches = this.#counter('list_fetches', 'Fetches of page and query lists.', ['source', 'outcome']);
    const fetchTimes = this.#times('list_fetch', 'Time of fetches of lists, waits included.', ['source']);
    this.#stops.push(
      onMeasured('providerRequest', ({ provider, outcome, seconds }) => {
        requests.inc({ provider, outcome });
        requestTimes.observe({ provider }, seconds);
      }),
      onMeasured('listFetch', ({ source, outcome, seconds }) => {
        fetches.inc({ source, outcome });
        fetchTimes.observe({ source }, seconds);
      }),
    );
  }

  #watchJobs(): void {
    const runs = this.#counter('job_runs', 'Runs of background jobs.', ['name', 'outcome']);
    const runTimes = this.#times('job_run', 'Time of runs of background jobs.', ['name']);
    const syncs = this.#counter('sync_runs', 'Syncs of a project, each a turn of some windows.', ['outcome']);
    const syncTimes = this.#times('sync_run', 'Time of syncs of a project.', []);
    const evaluations = this.#counter('alert_evaluations', 'Evaluations of the alerts of a project.', ['outcome']);
    const evaluationTimes = this.#times('alert_evaluation', 'Time of evaluations of the alerts of a project.', []);
    const opened = this.#counter('alerts_opened', 'Alerts that evaluations opened.', []);
    const resolved = this.#counter('alerts_resolved', 'Alerts that evaluations resolved.', []);
    this.#stops.push(
      onMeasured('jobRun', ({ job: name, outcome, seconds }) => {
        runs.inc({ name, outcome });
        runTimes.observe({ name }, seconds);
      }),
      onMeasured('syncRun', ({ outcome, seconds }) => {
        syncs.inc({ outcome });
        syncTimes.observe(seconds);
      }),
      onMeasured('alertEvaluation', ({ outcome, seconds, opened: found, resolved: ended }) => {
        evaluations.inc({ outcome });
        evaluationTimes.observe(seconds);
        opened.inc(found);
        resolved.inc(ended);
      }),
    );
  }

  #watchTrino(): void {
    const queries = this.#counter('trino_queries', 'Queries to Trino.', ['outcome']);
    const times = this.#times('trino_query', 'Time of queries to Trino.', []);
    for (const outcome of ['ok', 'unavailable']) queries.inc({ outcome }, 0);
    this.#stops.push(
      onMeasured('trinoQuery', ({ outcome, seconds }) => {
        queries.inc({ outcome });
        times.observe(seconds);
      }),
    );
  }

  #watchStorage(): void {
    const requests = this.#counter('storage_requests', 'Requests to the object store.', ['kind', 'outcome']);
    const times = this.#times('storage_request', 'Time of requests to the object store.', ['kind']);
    const reads = this.#counter('storage_reads', 'Files that were opened from the disk cache, or fetched.', [
      'outcome',
    ]);
    for (const outcome of ['ok', 'away']) for (const kind of STORAGE_REQUESTS) requests.inc({ kind, outcome }, 0);
    for (const kind of STORAGE_REQUESTS) times.zero({ kind });
    for (const outcome of ['hit', 'miss']) reads.inc({ outcome }, 0);
    this.#stops.push(
      onMeasured('storageRequest', ({ kind, outcome, seconds }) => {
        requests.inc({ kind, outcome });
        times.observe({ kind }, seconds);
      }),
      onMeasured('storageRead', ({ outcome }) => reads.inc({ outcome })),
    );
  }

  #watchPostgres(): void {
    const waits = this.#counter('postgres_waits', 'Waits for PostgreSQL.', ['kind', 'outcome']);
    const times = this.#times('postgres_wait', 'Time of waits for PostgreSQL.', ['kind'], SHORT);
    for (const outcome of ['ok', 'away']) for (const kind of POSTGRES_WAITS) waits.inc({ kind, outcome }, 0);
    for (const kind of POSTGRES_WAITS) times.zero({ kind });
    this.#stops.push(
      onMeasured('postgresWait', ({ kind, outcome, seconds }) => {
        waits.inc({ kind, outcome });
        times.observe({ kind }, seconds);
      }),
    );
  }

  #watchLeases(): void {
    const leases = this.#counter('leases', 'Leases that were asked for, lost or released.', ['outcome']);
    for (const outcome of LEASE_OUTCOMES) leases.inc({ outcome }, 0);
    this.#stops.push(onMeasured('lease', ({ outcome }) => leases.inc({ outcome })));
  }

  #watchDeliveries(): void {
    const attempts = this.#counter('delivery_attempts', 'Attempts to deliver over channels.', ['outcome']);
    const times = this.#times('delivery_attempt', 'Time of attempts to deliver over channels.', []);
    for (const outcome of ['sent', 'retry', 'failed', 'gone']) attempts.inc({ outcome }, 0);
    this.#stops.push(
      onMeasured('deliveryAttempt', ({ outcome, seconds }) => {
        attempts.inc({ outcome });
        times.observe(seconds);
      }),
    );
  }

  #watchStatements(): void {
    const statements = this.#counter('statements', 'Statements in SQL.', ['outcome']);
    const times = this.#times('statement', 'Time of statements in SQL until their first row, waits included.', []);
    for (const outcome of STATEMENT_OUTCOMES) statements.inc({ outcome }, 0);
    this.#stops.push(
      onMeasured('statement', ({ outcome, seconds }) => {
        statements.inc({ outcome });
        times.observe(seconds);
      }),
    );
  }

  #counter(what: string, help: string, labelNames: readonly string[]): Counter {
    return new Counter({ name: `ordinate_${what}_total`, help, labelNames, registers: [this.registry] });
  }

  #times(what: string, help: string, labelNames: readonly string[], buckets = LONG): Histogram {
    const name = `ordinate_${what}_seconds`;
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }
}
