import { Counter, Gauge, Registry } from 'prom-client';
import { LOAD_KINDS } from '../catalog/usage.ts';
import type { Collected } from './process-metrics.ts';
import type { StoreState } from './store-state.ts';

type Set<Labels extends string = string> = (value: number, labels?: Partial<Record<Labels, string>>) => void;

/** Metrics of what the catalog and the usage database have: the same in all processes. */
export class StateMetrics {
  readonly #registry = new Registry();
  readonly #read: () => Promise<StoreState>;

  /** @param read reads the state */
  constructor(read: () => Promise<StoreState>) {
    this.#read = read;
  }

  async collect(): Promise<Collected> {
    const state = await this.#read();
    this.#registry.clear();
    this.#setSyncs(state);
    this.#setLoads(state);
    this.#setJobs(state);
    this.#setDeliveries(state);
    this.#setSizes(state);
    return (await this.#registry.getMetricsAsJSON()) as Collected;
  }

  #setSyncs({ syncs, now }: StoreState): void {
    const age = this.#gauge('sync_age_seconds', OLDEST, 'project');
    for (const { project, since } of syncs.oldest) age(Math.max(0, now - since), { project });
    const worst = syncs.oldest[0]?.since;
    this.#gauge(
      'sync_age_max_seconds',
      'The largest of these ages; 0 without connected projects.',
    )(worst === undefined ? 0 : Math.max(0, now - worst));
    const projects = this.#gauge('sync_projects', 'Connected projects by what their last sync said.', 'status');
    for (const [status, count] of Object.entries(syncs.byStatus)) projects(count, { status });
    this.#gauge(
      'sync_projects_stale',
      'Connected projects without a successful sync in the last 36 hours.',
    )(syncs.stale);
    this.#gauge('sync_projects_failing', 'Connected projects whose last sync failed.')(syncs.failing);
    this.#gauge('sync_projects_due', 'Connected projects whose next sync is due.')(syncs.due);
  }

  #setLoads({ loads }: StoreState): void {
    const count = this.#counter(
      'loads_total',
      'Loads of all processes, those of commands included.',
      'kind',
      'outcome',
    );
    const rows = this.#counter('load_rows_total', 'Rows of published loads.', 'kind');
    const seconds = this.#counter('load_seconds_total', 'Time of published loads.', 'kind');
    const lastAt = this.#gauge('load_last_timestamp_seconds', 'When the last load was published.', 'kind');
    const lastRows = this.#gauge('load_last_rows', 'Rows of the last published load.', 'kind');
    const lastSeconds = this.#gauge('load_last_seconds', 'Time of the last published load.', 'kind');
    // Starts at 0, so that the first event is an increase.
    for (const kind of LOAD_KINDS) {
      for (const outcome of ['published', 'rejected', 'failed']) count(0, { kind, outcome });
    }
    for (const load of loads) {
      const { kind } = load;
      for (const outcome of ['published', 'rejected', 'failed'] as const) count(load[outcome], { kind, outcome });
      rows(load.rows, { kind });
      seconds(load.seconds, { kind });
      if (load.lastAt !== null) lastAt(load.lastAt / 1e6, { kind });
      if (load.lastRows !== null) lastRows(load.lastRows, { kind });
      if (load.lastSeconds !== null) lastSeconds(load.lastSeconds, { kind });
    }
  }

  #setJobs({ jobs }: StoreState): void {
    const failures = this.#gauge(
      'job_failures',
      'Failures in a row of a background job, in whichever process.',
      'name',
    );
    const lastRun = this.#gauge('job_last_run_timestamp_seconds', 'When a background job last started.', 'name');
    for (const job of jobs) {
      failures(job.failures, { name: job.job });
      lastRun(job.startedAt / 1e6, { name: job.job });
    }
  }

  #setDeliveries({ deliveries: { pending, dueSince }, now }: StoreState): void {
    this.#gauge('deliveries_pending', 'Deliveries that wait to be sent.')(pending);
    this.#gauge(
      'deliveries_late_seconds',
      'For how long the first of them has been due; 0 if none is.',
    )(dueSince === null ? 0 : Math.max(0, now - dueSince / 1e6));
  }

  #setSizes({ catalogBytes, facts, lists, lastBackup }: StoreState): void {
    this.#gauge('catalog_bytes', 'Size of the catalog, its write-ahead log included.')(catalogBytes);
    const files = this.#gauge('facts_files', 'Current fact files.', 'table');
    const rows = this.#gauge('facts_rows', 'Rows in current fact files.', 'table');
    const bytes = this.#gauge('facts_bytes', 'Bytes of current fact files.', 'table');
    for (const total of facts) {
      const { table } = total;
      files(total.files, { table });
      rows(total.rows, { table });
      bytes(total.bytes, { table });
    }
    this.#gauge('lists_stored', 'Stored page and query lists.')(lists.lists);
    this.#gauge('lists_stored_bytes', 'Bytes of stored page and query lists.')(lists.bytes);
    const backup = this.#gauge('backup_last_timestamp_seconds', 'When the last backup succeeded; 0 if none did.');
    backup(lastBackup === null ? 0 : lastBackup / 1e6);
  }

  #gauge(name: string, help: string, ...labelNames: string[]): Set {
    const gauge = new Gauge({ name: `ordinate_${name}`, help, labelNames, registers: [this.#registry] });
    return (value, labels = {}) => gauge.set(labels, value);
  }

  #counter(name: string, help: string, ...labelNames: string[]): Set {
    const counter = new Counter({ name: `ordinate_${name}`, help, labelNames, registers: [this.#registry] });
    return (value, labels = {}) => counter.inc(labels, value);
  }
}

const OLDEST =
  'Time since the last successful sync of the projects that have waited longest; for a project without one, since it was created.';
