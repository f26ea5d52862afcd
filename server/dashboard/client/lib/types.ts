/** What the API answers, by its OpenAPI document, and what only the dashboard's own addresses answer. */
import type { components } from '../../../../client/openapi.ts';

type Schemas = components['schemas'];

/** `YYYY-MM-DD`. */
export type Day = string;

export interface Range {
  readonly from: Day;
  readonly to: Day;
}

export type Metric = Schemas['MetricName'];
export const METRICS = ['clicks', 'impressions', 'ctr', 'position'] as const satisfies readonly Metric[];

export type SurfacesAnswer = Schemas['SurfacesAnswer'];
export type SitemapsAnswer = Schemas['SitemapsAnswer'];
export type CrawlAnswer = Schemas['CrawlAnswer'];
export type IndexAnswer = Schemas['IndexAnswer'];
export type IndexHistoryAnswer = Schemas['IndexHistoryAnswer'];
export type HoursAnswer = Schemas['HoursAnswer'];

export type Metrics = Pick<Schemas['TotalMetrics'], 'clicks' | 'impressions' | 'ctr' | 'position'>;
export type MetricValues = { readonly [Name in Metric]: number | null };
/** What `compare` adds beside metrics. */
export type Compared = Pick<Schemas['TotalMetrics'], 'comparison' | 'change' | 'unsafe'>;
export type Interval = Schemas['Interval'];
/** Untyped in the document, so that generated clients need no model for it. */
export interface RankingUpdate {
  readonly title: string;
  readonly from: Day;
  /** Null until it is rolled out. */
  readonly to: Day | null;
  readonly source: string;
}
export type Quality = Schemas['Quality'];
export type ProviderEvent = Schemas['ProviderEvent'];
export type DailyMetrics = Schemas['DayMetrics'];
export type Paging = Schemas['Paging'];

/** `GET /app/api/projects/:id/summary`. */
export interface ProjectSummary {
  readonly project: Schemas['Project'];
  /** The last day that does not change any more; null before the first sync. */
  readonly finalThrough: Day | null;
  readonly alerts: { readonly open: number; readonly resolved: number };
  /** Whether Bing tells of its crawler, or did. */
  readonly hasCrawler: boolean;
}

/** A project with what only the dashboard's own API has of it. */
export type Project = Schemas['Project'] & Omit<ProjectSummary, 'project'>;
export type PortfolioAnswer = Schemas['PortfolioAnswer'];
export type PortfolioProject = Schemas['PortfolioProject'];
export type ProjectsAnswer = Schemas['ProjectsAnswer'];
export type SiteAnswer = Schemas['SiteAnswer'];
export type ExplainAnswer = Schemas['ExplainAnswer'];
export type Finding = Schemas['Finding'];
export type FindingsAnswer = Schemas['FindingsAnswer'];
export type ExplainedRow = Schemas['ExplainedRow'];
export type EffectsAnswer = Schemas['EffectsAnswer'];
export type BreakdownsAnswer = Schemas['BreakdownsAnswer'];
export type Keyword = Schemas['Keyword'];
export type KeywordsAnswer = Schemas['KeywordsAnswer'];
export type Group = Schemas['Group'];
export type GroupsAnswer = Schemas['GroupsAnswer'];
export type QueryRow = Schemas['QueryMetrics'];
export type PageRow = Schemas['PageMetrics'];
/** Queries or pages: what both answers have, and the rows of one of them. */
export type ListAnswer = Omit<Schemas['QueriesAnswer'], 'queries'> & {
  readonly queries?: readonly QueryRow[];
  readonly pages?: readonly PageRow[];
  /** Of rows that are new or gone: whether one of the two lists was cut off, so that they may be in both. */
  readonly isCut?: boolean;
};
export type Alert = Schemas['Alert'];
export type AlertsAnswer = Schemas['AlertsAnswer'];
export type Note = Schemas['Note'];
export type NotesAnswer = Schemas['NotesAnswer'];

/** `GET /app/api/session`. */
export interface Session {
  readonly workspace: { readonly id: string; readonly name: string };
  /** Email address of the member who signed in by a link; null for sessions of keys, which only read. */
  readonly email: string | null;
  readonly role: 'owner' | 'admin' | 'member' | 'key';
  readonly expiresAt: string;
}
