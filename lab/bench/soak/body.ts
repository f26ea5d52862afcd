import type { Got } from './http.ts';

/** Metrics of an answer, as JSON and all other formats have them. */
export interface Metrics {
  readonly clicks: unknown;
  readonly impressions: unknown;
  readonly ctr: unknown;
  readonly position: unknown;
}

export type PlainRow = Readonly<Record<string, unknown>>;

/** What the soak reads of answers; each has only some of it. */
export interface Body {
  readonly range: { readonly to: string };
  readonly totals: Metrics & { readonly comparison: Metrics };
  readonly daily: readonly PlainRow[];
  readonly paging: { readonly total: number };
  readonly keywords: readonly { readonly id: string; readonly query: string; readonly metrics: Metrics }[];
  readonly queries: readonly PlainRow[];
  readonly pages: readonly PlainRow[];
  readonly source: { readonly kind: string };
  readonly countries: readonly PlainRow[];
  readonly devices: readonly PlainRow[];
  readonly appearances: readonly PlainRow[];
  readonly brand: { readonly brand: Metrics; readonly nonBrand: Metrics };
  readonly projects: readonly {
    readonly id: string;
    readonly syncedThrough: string;
    readonly trackedKeywords: number;
    readonly totals: Metrics;
  }[];
  readonly files: readonly { readonly href: string; readonly bytes: number; readonly sha256: string }[];
  readonly groups: readonly object[];
  readonly pageGroups: readonly object[];
  readonly notes: readonly object[];
  readonly alerts: readonly object[];
}

export function json(got: Got): Body {
  return JSON.parse(got.bytes.toString()) as Body;
}
