/** What the API answers, as far as the dashboard reads it (docs: /openapi.json). */

/** `YYYY-MM-DD`. */
export type Day = string;

export interface Metrics {
  readonly clicks: number;
  readonly impressions: number;
  /** 0 to 1; null without impressions. */
  readonly ctr: number | null;
  /** From 1; null without impressions. */
  readonly position: number | null;
}
export type Metric = keyof Metrics;
export const METRICS = ['clicks', 'impressions', 'ctr', 'position'] as const;

/** Why a change must not be relied on, by metric. */
type Unsafe = Partial<Record<Metric, readonly string[]>>;

/** What `compare` adds beside metrics. */
export interface Compared {
  readonly comparison?: Metrics | null;
  readonly change?: Partial<
    Record<Metric, { readonly difference: number | null; readonly ratio: number | null }>
  > | null;
  readonly unsafe?: Unsafe;
}

export interface Range {
  readonly from: Day;
  readonly to: Day;
}

export interface Session {
  readonly workspace: { readonly id: string; readonly name: string };
  /** Email address of the owner who signed in by a link; null for sessions of keys, which only read. */
  readonly owner: string | null;
  readonly expiresAt: string;
}

type SyncStatus = 'pending' | 'ok' | 'warning' | 'failed';

export interface Project {
  readonly id: string;
  readonly domain: string;
  readonly property: string;
  readonly country: string | null;
  readonly syncStatus: SyncStatus;
  readonly lastSyncedAt: string | null;
  readonly syncedThrough: Day | null;
  readonly keywordHistoryFrom: Day;
  readonly historyBackfilling: boolean;
  readonly trackedKeywords: number;
}

export interface ProjectsAnswer {
  readonly projects: readonly Project[];
}

export type DailyMetrics = Metrics & Compared & { readonly date: Day };

export interface SiteAnswer {
  readonly range: Range & { readonly provisionalAfter: Day | null; readonly comparison?: Range };
  readonly totals: Metrics & Compared;
  readonly daily: readonly DailyMetrics[];
}

export interface Paging {
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

export type QueryRow = Metrics &
  Compared & { readonly query: string; readonly branded: boolean; readonly trackedKeywordId: string | null };
export type PageRow = Metrics & Compared & { readonly url: string };

export interface ListAnswer {
  readonly range: Range;
  readonly source: { readonly kind: string; readonly fetchedAt: string; readonly truncated: boolean };
  readonly paging: Paging;
  readonly queries?: readonly QueryRow[];
  readonly pages?: readonly PageRow[];
}

export interface Keyword extends Compared {
  readonly id: string;
  readonly query: string;
  readonly trackedSince: string;
  readonly intent: string;
  readonly groupIds: readonly string[];
  readonly metrics: Metrics & Compared;
  readonly daily?: readonly DailyMetrics[];
}

export interface KeywordsAnswer {
  readonly range: Range & { readonly clamped: boolean; readonly provisionalAfter: Day | null };
  readonly paging: Paging;
  readonly keywords: readonly Keyword[];
}

export interface Group {
  readonly id: string;
  readonly name: string;
  readonly kind: 'folder' | 'manual' | 'rule';
  readonly parentId: string | null;
  readonly keywordIds: readonly string[] | null;
}

export interface GroupsAnswer {
  readonly groups: readonly Group[];
}

export interface BreakdownsAnswer {
  readonly range: Range & {
    readonly availableFrom: Day | null;
    readonly availableThrough: Day | null;
    readonly provisionalAfter: Day | null;
    readonly countryMonthlyThrough: Day | null;
  };
  readonly countries: readonly (Metrics & Compared & { readonly country: string })[];
  readonly devices: readonly (Metrics & Compared & { readonly device: string })[];
  readonly appearances: readonly (Metrics & Compared & { readonly appearance: string })[];
  readonly brand: {
    readonly brand: Metrics & Compared;
    readonly nonBrand: Metrics & Compared;
    readonly anonymous: { readonly clicks: number; readonly impressions: number };
  };
}

export interface Alert {
  readonly id: string;
  readonly type: string;
  readonly kind: string;
  readonly severity: 'info' | 'warning' | 'critical';
  readonly title: string;
  readonly body: string;
  readonly date: Day | null;
  readonly keywordId: string | null;
  readonly url: string | null;
  readonly createdAt: string;
  readonly resolvedAt: string | null;
}

export interface AlertsAnswer {
  readonly alerts: readonly Alert[];
}

export interface Note {
  readonly id: string;
  readonly scope: string;
  readonly date: Day;
  readonly endDate: Day | null;
  readonly category: string;
  readonly text: string;
  readonly author: string;
  readonly group: { readonly id: string; readonly name: string } | null;
  readonly keyword: { readonly id: string; readonly query: string } | null;
  readonly page: string | null;
}

export interface NotesAnswer {
  readonly notes: readonly Note[];
}
