/** The location of the catalog and the usage database; part of the settings. */
export interface CatalogLocation {
  readonly dataFolder: string;
  /** The address of a PostgreSQL database; empty for SQLite in the data folder. */
  readonly catalogUrl: string;
  /** Maximum connections of this process to a database; the setting's default if omitted. */
  readonly catalogConnections?: number;
}

/** The location of a catalog in SQLite, ignoring the settings. */
export function sqliteIn(dataFolder: string): CatalogLocation {
  return { dataFolder, catalogUrl: '' };
}

/** Throws for a catalog that is not in the data folder. @param remedy what to do instead */
export function requireSqlite({ catalogUrl }: Pick<CatalogLocation, 'catalogUrl'>, remedy: string): void {
  if (catalogUrl === '') return;
  throw new Error(
    `The catalog is in a PostgreSQL database (ORDINATE_CATALOG), for which this command is not made. ${remedy}`,
  );
}
