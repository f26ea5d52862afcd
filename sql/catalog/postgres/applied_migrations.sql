-- How many migrations were applied, and those of the oldest release that can use the catalog. The column is younger than the
-- table.
select coalesce((to_jsonb(v) ->> 'migrations')::bigint, v.schema) as applied, v.schema as oldest from catalog_version as v
