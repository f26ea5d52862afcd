import type { FastifyBaseLogger } from 'fastify';
import type { Connection } from '../catalog/connections.ts';
import type { Day } from '../domain/dates.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import type { Publisher } from '../load/publish-days.ts';
import type { Stores } from '../load/stores.ts';
import type { Gateway } from '../providers/gateway.ts';
import type { ConnectedProvider, Provider } from '../providers/provider.ts';
import type { SearchAnalytics } from '../providers/search-console/search-analytics.ts';
import type { DiskReserve } from '../storage/free-space.ts';
import type { RunCounts } from './fetch.ts';
import type { RunOutcome } from './project-state.ts';

export interface SyncStores extends Stores {
  readonly gateway: Gateway;
  /** The client of a connection to the reporting API. */
  readonly clientOf: (connection: Connection) => SearchAnalytics;
  /** Providers whose answers as a whole are fetched. */
  readonly providers: readonly Provider[];
  /** The client of any connection. */
  readonly connect: (provider: Provider, connection: Connection) => ConnectedProvider;
  /** Released when the disk is full, to store the reason. */
  readonly reserve: DiskReserve;
  /** Folder for rows before their publication. */
  readonly folder: string;
  readonly publisher: Publisher;
  /** Returns the engine for publications and comparisons, opened on first use. */
  readonly engine: () => Promise<Engine>;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>;
}

export interface SyncOptions {
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** From 0 to 1, as `Math.random`. */
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Maximum number of windows of this run. */
  readonly maxWindows?: number;
  /** Whether the run ends after a window if another was requested meanwhile, which fetches the newest days. */
  readonly endsWhenRequested?: boolean;
  /** Milliseconds after which provisional days are fetched again; 0 for always. */
  readonly staleAfter?: number;
  readonly report?: (progress: SyncProgress) => void;
  /** Called while the run makes no progress, because of the provider, a load or another process; with the reason. */
  readonly onWait?: (why: string) => void;
  /** Days to fetch and store whatever their state. */
  readonly forcedDays?: readonly Day[];
}

export interface SyncProgress {
  readonly project: string;
  readonly windows: number;
  readonly allWindows: number;
  readonly requests: number;
  /** Estimated. */
  readonly allRequests: number;
  readonly rows: number;
}

/** The result of a run, as logged. */
export interface SyncResult extends Readonly<RunCounts> {
  readonly project: string;
  readonly outcome: RunOutcome;
  /** Why the run failed, for the operator. */
  readonly reason: string | null;
  readonly windows: number;
  readonly seconds: number;
}
