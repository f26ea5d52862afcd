/** The error for a catalog of a newer version: a downgrade is not possible. */
export function newerCatalog(found: number, supported: number): Error {
  return new Error(
    `The catalog was created by a newer version of Ordinate (its schema version is ${found}, this version supports ${supported}). Install that version again.`,
  );
}
