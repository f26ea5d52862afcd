-- How many migrations were applied. From here on `schema` is the number of migrations of the oldest release that can still use
-- the catalog: a migration that takes away what releases read sets it, and all others leave these releases running.
alter table catalog_version add column migrations bigint;
