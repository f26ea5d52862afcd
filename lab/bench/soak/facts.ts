import { hash } from './random.ts';

/** The projects whose numbers the soak knows. One load changes both, so that a mix of two states shows between them, too. */
export const PROJECTS = ['Soak1', 'Soak2'] as const;
export const DEVICES = ['desktop', 'mobile', 'tablet'] as const;

export interface Sizes {
  readonly seed: number;
  readonly keywords: number;
  readonly queries: number;
  /** Days that are loaded at first. */
  readonly days: number;
}

export interface Sums {
  readonly clicks: number;
  readonly impressions: number;
  readonly sum_position: number;
}

/** The columns of a fact's key, and its sums. */
export type Fact = Sums & Readonly<Record<string, string | number>>;

const COUNTRIES = ['usa', 'gbr', 'fra'];

const numbered = (count: number, name: (number: string) => string): string[] =>
  Array.from({ length: count }, (_, index) => name(String(index + 1).padStart(3, '0')));

export const keywordIds = ({ keywords }: Sizes): string[] => numbered(keywords, (number) => `Kw${number}`);
/** The text of a keyword; texts have the order of their ids. */
export const keywordText = (id: string): string => `word ${id.slice(2)}`;

/** The tables of facts: the columns of their keys, with all values. */
export function factTables(sizes: Sizes): Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> {
  const country = COUNTRIES.slice(0, 2);
  return {
    site_daily: { device: DEVICES },
    keyword_daily: { keyword_id: keywordIds(sizes), device: DEVICES.slice(0, 2) },
    query_daily: { query: numbered(sizes.queries, (number) => `word ${number}`), country },
    page_daily: { url: numbered(sizes.queries, (number) => `https://soak.example/${number}`), country },
    country_daily: { country: COUNTRIES },
    brand_daily: { segment: ['brand', 'non_brand'] },
    appearance_daily: { appearance: ['VIDEO', 'PRODUCT_SNIPPETS'] },
  };
}

/** The facts of a table on a day, in one of its versions: each version of a day has other numbers. */
export function factsOf(sizes: Sizes, project: string, table: string, day: string, version: number): Fact[] {
  let keys: Readonly<Record<string, string>>[] = [{}];
  for (const [column, values] of Object.entries(factTables(sizes)[table]!)) {
    keys = keys.flatMap((key) => values.map((value) => ({ ...key, [column]: value })));
  }
  return keys.map((key) => {
    const text = [sizes.seed, project, table, day, version, ...Object.values(key)].join('|');
    const impressions = 20 + (hash(`${text}|i`) % 400);
    return {
      ...key,
      clicks: hash(`${text}|c`) % Math.floor(impressions / 4),
      impressions,
      sum_position: hash(`${text}|p`) % (impressions * 30),
    } as Fact;
  });
}
