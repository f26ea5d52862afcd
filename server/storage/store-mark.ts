/** The file of a store that says which one it is. No catalog names it. */
export const MARK_FILE = 'ordinate-store.json';

/** What a store says of itself. */
export interface StoreMark {
  readonly id: string;
  /** The catalog that it was joined with first. */
  readonly catalog: string;
  /** The store that `storage copy` copied completely, as far as the catalog knew it at `revision`. */
  readonly copyOf?: { readonly id: string; readonly revision: number };
}

/** Where a store keeps its mark. */
export interface MarkPlace {
  /** Undefined if there is none. */
  read(): Promise<string | undefined>;
  /** Writes it durably; false, without writing, if `isNew` and there is one. */
  write(text: string, options: { readonly isNew: boolean }): Promise<boolean>;
}

/** The mark of a store; undefined if it has none. Throws if it cannot be understood. */
export async function readMark({ mark, address }: MarkedStore): Promise<StoreMark | undefined> {
  const text = await mark.read();
  if (text === undefined) return undefined;
  try {
    const { ordinateStore, ...found } = JSON.parse(text) as StoreMark & { ordinateStore: number };
    if (ordinateStore === 1 && typeof found.id === 'string' && typeof found.catalog === 'string') return found;
  } catch {
    // Described below.
  }
  throw new Error(
    `'${address}/${MARK_FILE}' is damaged, or a newer version of Ordinate wrote it; nothing was read or written. Restore it; or remove it and run 'ordinate storage join'.`,
  );
}

/** See `MarkPlace.write`. */
export function writeMark({ mark: place }: MarkedStore, mark: StoreMark, isNew: boolean): Promise<boolean> {
  return place.write(`${JSON.stringify({ ordinateStore: 1, ...mark })}\n`, { isNew });
}

export interface MarkedStore {
  readonly mark: MarkPlace;
  /** For messages. */
  readonly address: string;
}
