-- Is there a catalog, whole or not, where this session makes its tables?
select 1 as found from pg_class where oid = to_regclass('catalog_version')
