/**
 * Advisory locks of the catalog: `pg_advisory_xact_lock(space, number)`. `take_provider_request` (a function of the database)
 * takes number 3. Other locks of the service have spaces of their own.
 */
export const ADVISORY = {
  space: 7_303_780,
  migration: 1,
  /** Exclusive for a transaction that must be alone, shared for others. */
  transaction: 2,
} as const;
