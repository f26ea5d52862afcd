/** Where the catalog and the usage database are; the settings of a service say it. */
export interface CatalogPlace {
  readonly dataFolder: string;
  /** The address of a PostgreSQL database; empty for SQLite in the data folder. */
  readonly catalogUrl: string;
  /** Maximum connections of this process to a database; the default of the setting if left out. */
  readonly catalogConnections?: number;
}

/** The place of a catalog in SQLite, whatever the settings say. */
export function sqliteIn(dataFolder: string): CatalogPlace {
  return { dataFolder, catalogUrl: '' };
}

/** Throws for a catalog that is not in the data folder. @param remedy what to do instead */
export function requireSqlite({ catalogUrl }: Pick<CatalogPlace, 'catalogUrl'>, remedy: string): void {
  if (catalogUrl === '') return;
  throw new Error(
    `The catalog is in a PostgreSQL database (ORDINATE_CATALOG), for which this command is not made. ${remedy}`,
  );
}
