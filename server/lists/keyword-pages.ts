import type { Keyword } from '../catalog/keywords.ts';
import type { ListPair } from '../catalog/stored-lists.ts';
import type { ListQuery } from '../providers/provider.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { OwnRows } from './own-rows.ts';
import type { Fetched, OwnSource } from './source.ts';

/** The queries of a page, or the pages of a query, as far as tracked keywords know them. */
export class KeywordPages implements OwnSource {
  readonly kind = 'keywords';
  readonly provider = null;
  readonly #rows: OwnRows;
  readonly #files: readonly StoredFile[];
  readonly #keywords: readonly Keyword[];

  /** @param files Parquet files of keyword_page_daily */
  constructor(rows: OwnRows, files: readonly StoredFile[], keywords: readonly Keyword[]) {
    this.#rows = rows;
    this.#files = files;
    this.#keywords = keywords;
  }

  /** The ids of the keywords that track a query. */
  idsOf(query: string): string[] {
    const wanted = query.toLowerCase();
    return this.#keywords.filter((keyword) => keyword.query.toLowerCase() === wanted).map(({ id }) => id);
  }

  /** @param query of rows that have a pair */
  async fetch({ kind, range, pair }: ListQuery): Promise<Fetched> {
    const { of } = pair as ListPair;
    const ranked =
      kind === 'pages'
        ? await this.#rows.ofPairs(this.#files, { range, text: 'url', by: 'keyword_id', names: this.idsOf(of) })
        : await this.#rows.ofPairs(
            this.#files,
            { range, text: 'keyword_id', by: 'url', names: [of] },
            new Map(this.#keywords.map(({ id, query }) => [id, query])),
          );
    return { ranked, rows: ranked.count, truncated: false, capped: false, complete: true };
  }
}
