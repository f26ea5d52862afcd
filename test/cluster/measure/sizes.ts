/** How long to measure. */
export interface Sizes {
  readonly rounds: number;
  /** Cached requests of a round. */
  readonly cached: number;
  /** Uncached requests of a round. */
  readonly uncached: number;
  /** Publications of a round for each of the loads. */
  readonly publications: number;
  /** Loads at a time. */
  readonly loads: number;
}
