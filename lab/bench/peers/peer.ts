import type { Sample } from '../rounds.ts';

/** Another database that runs the same query over the same rows. */
export interface Peer {
  readonly name: 'postgres' | 'clickhouse';
  /** Times the totals of all keywords of the large project over a range, until the rows are in this process. */
  readonly totals: (from: string, to: string) => Promise<Sample>;
  close(): Promise<void>;
}

/** The rows that a peer copies. */
export interface PeerSource {
  /** The folder of the benchmark. */
  readonly folder: string;
  /** The plain daily file of the large project. */
  readonly file: string;
  /** A hash that changes with the rows. */
  readonly stamp: string;
  readonly report: (step: string) => void;
}
