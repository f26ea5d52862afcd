// What the server and the process of a statement send each other: lines of JSON, then the rows.

/** A column of a table: its name, its type in answers, and SQL that reads the stored value. */
export interface SandboxColumn {
  readonly name: string;
  readonly type: string;
  readonly stored: string;
  readonly read: string;
}

export interface SandboxTable {
  readonly name: string;
  readonly columns: readonly SandboxColumn[];
}

/** A statement, before its tables. */
export interface StatementMessage {
  readonly sql: string;
  /** By position, or by name. */
  readonly parameters: readonly Value[] | Readonly<Record<string, Value>>;
  /** Max rows. */
  readonly limit: number;
  readonly project: string;
  readonly tables: readonly SandboxTable[];
  /** The folder of their files. */
  readonly folder: string;
}

type Value = string | number | boolean | null;

/** The content of the tables that a statement names: names of Parquet files, or rows. `from`: the first visible day. */
export type ContentMessage = Readonly<
  Record<
    string,
    { readonly files: readonly string[]; readonly from: string | null } | { readonly rows: readonly object[] }
  >
>;

/** The process asks for the content of tables, refuses, or answers; rows follow an answer as one JSON array. */
export type CageMessage =
  | { readonly needs: readonly string[] }
  /** `isReady`: nothing was run, and the process waits for another statement. */
  | { readonly refused: string; readonly isReady: boolean }
  | {
      readonly columns: readonly { readonly name: string; readonly type: string }[];
      readonly truncated: boolean;
      readonly rows: number;
      /** Of the rows. */
      readonly bytes: number;
    };
