-- The version of the catalog, which each commit raises, and the number of migrations of the oldest release that can use it.
select value, schema from catalog_version
