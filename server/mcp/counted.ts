/** How many rows there are, and how many of them a response has. */
export interface Counted {
  readonly total: number;
  readonly returned: number;
  /** The `offset` that returns the next rows; null at the end. */
  readonly nextOffset: number | null;
}

export function counted(total: number, offset: number, returned: number): Counted {
  const end = offset + returned;
  return { total, returned, nextOffset: returned > 0 && end < total ? end : null };
}
