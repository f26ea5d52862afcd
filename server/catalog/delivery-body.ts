import type { Compared } from '../domain/comparison.ts';
import type { Day } from '../domain/dates.ts';
import type { DigestPeriod } from '../domain/digest-periods.ts';
import type { Metrics } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import type { Alert, Note } from './events.ts';

/** What a delivery is about, as a webhook gets it. `data` also has the workspace, the project and a link. */
export interface DeliveryBody {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly workspace: { readonly id: string; readonly name: string };
    readonly project?: { readonly id: string; readonly domain: string } | null;
    readonly alert?: ShownAlert;
    readonly sync?: SyncNews;
    readonly channel?: { readonly id: string; readonly name: string };
    readonly period?: DigestPeriod;
    readonly range?: Range;
    readonly comparison?: Range;
    readonly projects?: readonly DigestProject[];
    /** A path until the first attempt; null without an address of the server. */
    readonly link: string | null;
  };
}

/** A project in a digest. */
export interface DigestProject {
  readonly project: { readonly id: string; readonly domain: string };
  readonly totals: Metrics;
  readonly comparison: Metrics | null;
  readonly change: Compared['change'] | null;
  /** Why ratios of changes would mislead; null without a comparison, undefined in those of earlier versions. */
  readonly unsafe?: Compared['unsafe'] | null;
  /** What has moved most; `by` is null where that is not known. */
  readonly movers: { readonly by: 'page' | null; readonly up: readonly Mover[]; readonly down: readonly Mover[] };
  /** The open ones. */
  readonly alerts: readonly ShownAlert[];
  /** Verdicts on noted changes that became final since the digest before; undefined in those of earlier versions. */
  readonly verdicts?: readonly DigestVerdict[];
  readonly provisional: readonly Day[];
  /** Clicks of each day, for the picture of a mail. */
  readonly daily?: readonly (readonly [Day, number])[];
}

/** A page whose clicks have changed. */
export interface Mover {
  readonly page: string;
  readonly clicks: { readonly now: number; readonly base: number; readonly difference: number };
}

/** What became of a noted change. */
export interface DigestVerdict {
  readonly note: Pick<Note, 'id' | 'date' | 'text' | 'page' | 'keyword' | 'group'>;
  readonly verdict: string;
  readonly reasons: readonly string[];
  /** The verdict in a sentence. */
  readonly text: string;
  /** A path until it is sent. */
  readonly link: string;
}

/** An alert as `/alerts` shows it; its link is a path until it is sent. */
export type ShownAlert = Omit<Alert, 'createdAt' | 'resolvedAt'> & {
  readonly createdAt: string;
  readonly resolvedAt: string | null;
};

/** How the sync of a project stands. */
export interface SyncNews {
  readonly status: string;
  readonly reason: SyncReason | null;
  readonly since: string;
  /** The kind of the connection that the reason is about, if that is not Search Console. */
  readonly provider?: string;
}

/** Why a sync failed. */
export type SyncReason = 'access_lost' | 'credentials' | 'quota' | 'unavailable' | 'other';
