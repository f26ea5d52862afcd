-- The version of the catalog, which each commit raises, and the number of its migrations.
select value, schema from catalog_version
