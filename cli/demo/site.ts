/** Types for describing a demo site. Everything else is computed from such a description. */
export type Intent = 'informational' | 'commercial' | 'transactional' | 'navigational' | 'unclassified';

/** A thing that people search for: its name, its kind, its season, and impressions a day and position of the plain name. */
export type Topic = readonly [term: string, kind: string, season: string, volume: number, position: number];

/**
 * One way to search for a topic; `*` is replaced by the topic in the query and, with hyphens, in the page's path.
 * `share`: fraction of the topic's impressions. `rank`: factor for the topic's position. Without `kinds` it fits every
 * topic.
 */
export interface Pattern {
  query: string;
  page: string;
  share: number;
  rank: number;
  intent: Intent;
  kinds?: readonly string[];
}

/** A query without a topic. */
type SingleQuery = readonly [query: string, page: string, intent: Intent, volume: number, position: number];

/**
 * A temporary event: demand and position are multiplied by the given factors on the day itself, and less around it.
 * `before` and `after` are the days over which the effect builds up and fades.
 */
interface Event {
  on: { month: number; day: number } | { ago: number };
  before: number;
  after: number;
  demand: number;
  rank: number;
}

/** A tracked query that lost its position: `worse` multiplies the position, `kept` is the share of impressions left. */
export interface Move {
  query: string;
  ago: number;
  back: number | null;
  worse: number;
  kept: number;
}

interface Condition {
  field?: string;
  op: string;
  value: string | number;
}

interface Rule {
  match: 'all' | 'any';
  conditions: readonly Condition[];
}

/** A group is a folder when it has `children`, manual when it has `members` (a pattern for queries), else a rule group. */
export interface GroupPlan {
  name: string;
  pinned?: boolean;
  children?: readonly GroupPlan[];
  members?: RegExp;
  rule?: Rule;
}

export interface PageGroupPlan {
  name: string;
  rule: Rule;
  pinned?: readonly string[];
}

/** A different page ranks for a tracked query, from a day until another one (null: still). */
interface PageMove {
  query: string;
  /** Path of the page. */
  page: string;
  ago: number;
  back: number | null;
}

/** The page that its owners want to rank for a tracked query. */
interface Target {
  query: string;
  /** Path of the page. */
  page: string;
}

/** A rule of the owners. With `query` it is about that tracked query. */
interface RulePlan {
  name: string;
  severity: 'info' | 'warning' | 'critical';
  query?: string;
  rule: Readonly<Record<string, string | number>>;
}

/** A note on the day `ago`, or on the range from it to the day `until`. Its scope follows from the fields that are set. */
export interface NotePlan {
  ago: number;
  until?: number;
  category: 'launch' | 'content' | 'technical' | 'migration' | 'campaign' | 'other';
  text: string;
  author: 'Editorial team' | 'Web team';
  shown?: boolean;
  group?: string;
  query?: string;
  page?: string;
}

export interface Site {
  projectId: string;
  domain: string;
  property: string;
  /** Address of the home page without the closing slash. */
  origin: string;
  brandTerms: readonly string[];
  trackedCount: number;
  topics: readonly Topic[];
  patterns: readonly Pattern[];
  singles: readonly SingleQuery[];
  /** Day of the year with the highest demand, and the amplitude over the year. */
  seasons: Readonly<Record<string, { peak: number; strength: number }>>;
  /** Demand on each weekday from Monday on. */
  weekdays: readonly number[];
  /** Demand after a year, relative to the start of it. */
  growth: number;
  devices: readonly { device: string; share: number; rank: number }[];
  events: readonly Event[];
  /** Countries of queries and pages with their shares, the home market first. */
  markets: readonly (readonly [country: string, share: number])[];
  /** Further countries, seen only in the totals of the site, from the largest to the smallest. */
  distantMarkets: readonly string[];
  /** Share of the site's impressions, and clicks per impression relative to the site's. */
  appearances: readonly { appearance: string; share: number; appeal: number; rank: number }[];
}

/** Events of a site. */
export interface History {
  moves: readonly Move[];
  pageMoves: readonly PageMove[];
  targets: readonly Target[];
  rules: readonly RulePlan[];
  notes: readonly NotePlan[];
}

/** How the owners of a site sort its keywords and pages. */
export interface Grouping {
  groups: readonly GroupPlan[];
  pageGroups: readonly PageGroupPlan[];
}
