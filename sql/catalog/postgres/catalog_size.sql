-- The bytes of all tables and their indexes.
select coalesce(sum(pg_total_relation_size(oid)), 0) as bytes from pg_class
where relnamespace = to_regnamespace(current_schema()) and relkind = 'r'
