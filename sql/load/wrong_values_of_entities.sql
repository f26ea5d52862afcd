-- Which columns of an entity table have missing or wrong values, how many, and the first rows.
select wrong_column as "column", count(*)::double as total, to_json(arg_min(source_row, source_row, 3))::varchar as rows
from (select unnest(wrong) as wrong_column, source_row from staged_{table} where wrong is not null)
group by wrong_column order by wrong_column
