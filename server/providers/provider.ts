import type { Catalog } from '../catalog/catalog.ts';
import type { Connection } from '../catalog/connections.ts';
import type { ListKind, ListPair } from '../catalog/stored-lists.ts';
import type { CrawlDay, PageCrawl } from '../domain/crawl.ts';
import type { Day } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import type { SearchType, Surface } from '../model/surfaces.ts';
import type { FactTable } from '../model/tables.ts';
import type { Settings } from '../settings/settings.ts';
import type { ClientErrors, FailureKind, MissingStep, ProviderFailure } from './failures.ts';
import type { Gateway } from './gateway.ts';
import type { Pacing } from './pauses.ts';
import type { ProviderRun } from './retries.ts';

/** The interface of a provider. Everything else is private to its folder. */
export interface Provider {
  /** Its name in commands, the catalog, log lines and metrics. */
  readonly kind: string;
  /** Description in the help of commands. */
  readonly help: string;
  /** The options that its connections take. Those that only other providers take are refused. */
  readonly options: readonly ConnectionOption[];
  /** What the help says below the options. */
  readonly note?: string;
  /** How to fix a connection whose test failed, by the kind of the failure. */
  readonly advice: Readonly<Record<FailureKind, string>>;
  /** What clients are told of its failures. */
  readonly errors: ClientErrors;
  readonly pacing: Pacing;
  /** Left out by providers that have no lists of a range. */
  readonly lists?: ListTerms;
  /**
   * Tables that can only be fetched as a whole, those of days first: it returns all days or weeks that it keeps, and takes no
   * range. What it no longer keeps stays stored.
   */
  readonly wholeTables?: readonly FactTable[];
  /** Validates options that only it has. Throws `ConnectionRefused`. */
  check?(connection: Connection): void;
  /** Throws if a file cannot be used as credentials; the message contains none of its contents. */
  checkCredentials(path: string): void;
  /** A client of one connection. It may cache what is valid for its process. */
  connect(connection: Connection, context: ProviderContext): ConnectedProvider;
}

/** The context that all providers of a process share. */
export interface ProviderContext {
  readonly catalog: Catalog;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  readonly gateway: Gateway;
  readonly settings: Settings;
}

export type ConnectionField = Exclude<keyof Connection, 'kind' | 'grant'>;

/** An option of commands for a connection. */
export interface ConnectionOption {
  /** Its name in commands, of its flags. */
  readonly name: string;
  /** The field of the connection for its value, if it has another name. */
  readonly field?: ConnectionField;
  /** As the help shows it, such as `--dataset <project.dataset>`. */
  readonly flags: string;
  readonly help: string;
  /** The value without the option. */
  readonly default?: string;
  /** Normalises a value. Throws a `RangeError` for an invalid one. */
  readonly read?: (text: string) => string;
}

/** The lists of a provider. */
interface ListTerms {
  /** The source in responses, and its help. */
  readonly source: string;
  readonly help: string;
  /** The surfaces that it has lists of. Of other engines, whole lists are stored by the sync. */
  readonly types: readonly Surface[];
  /** The longest lists. */
  readonly maxRows: Readonly<Record<ListKind, number>>;
  /**
   * It has all rows, of the days since it was enabled: preferred to providers that return only the top rows. Loaded facts
   * may go further back.
   */
  readonly isWarehouse: boolean;
}

/** A row of one of the `wholeTables`. */
export interface WholeTableRow {
  /** Of weeks the last of the seven days. */
  readonly day: Day;
  /** Key columns other than project and day. */
  readonly key: Readonly<Record<string, string>>;
  readonly clicks: number;
  readonly impressions: number;
  /** Zero-based; null if the position is unknown. */
  readonly sumPosition: number | null;
}

/** The query of a list. */
export interface ListQuery {
  readonly kind: ListKind;
  readonly property: string;
  readonly range: Range;
  /** Lower-case alpha-3, or null for all. */
  readonly country: string | null;
  readonly type: SearchType;
  /** Null for the whole list. */
  readonly pair: ListPair | null;
  /** Accepts a list without the newest days, because no other source is available. */
  readonly allowMissingRecentDays: boolean;
}

/** A row of a list: text, clicks, impressions, and the zero-based sum of positions, -1 if it is unknown. */
export type ProviderRow = readonly [text: string, clicks: number, impressions: number, sumPosition: number];

/** Counts of a fetched list. */
export interface FetchedCounts {
  /** Rows, at most as many as the longest list. */
  readonly rows: number;
  /** There were more rows. */
  readonly truncated: boolean;
  /** False if days of the range are missing and may be available later. */
  readonly complete: boolean;
}

export interface Crawl {
  /** Null if no page was requested, or if its state is unknown. */
  readonly page: PageCrawl | null;
  /** Empty if a page was requested. */
  readonly days: readonly CrawlDay[];
}

/** The client of one connection. All methods throw `ProviderFailure`. */
export interface ConnectedProvider {
  /** What its limits apply to, if that is not the property: a name without secrets. */
  limitedBy?(): Promise<string>;
  /** Reads a few rows of a property; returns what was found and, if a step is missing, advice. */
  test(property: string, yesterday: Day, run: ProviderRun): Promise<{ found: string; advice?: string }>;
  /** The setup step on the provider's side that is missing after a failure, if it can be found. */
  findMissingStep?(property: string, failure: ProviderFailure): Promise<MissingStep | undefined>;
  /** Passes the rows of a list to `take`, each text once, in any order; at most one more than `maxRows`. */
  fetchList?(
    query: ListQuery & { readonly maxRows: number },
    take: (rows: readonly ProviderRow[]) => Promise<void>,
    run: ProviderRun,
  ): Promise<FetchedCounts>;
  /** What its crawler knows about a page; with a null `url`, what it found on each day that the provider keeps. */
  fetchCrawl?(property: string, url: string | null, run: ProviderRun): Promise<Crawl>;
  /** All rows of one of its `wholeTables`, each key once. */
  fetchWholeTable?(table: FactTable, property: string, run: ProviderRun): Promise<readonly WholeTableRow[]>;
}
