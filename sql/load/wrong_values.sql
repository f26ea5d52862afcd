-- Which columns have missing or wrong values, how many, and the first rows. Of a SELECT of what is wrong with each row.
select wrong_column as "column", count(*)::double as total, to_json(arg_min(source_row, source_row, 3))::varchar as rows
from (select unnest(wrong) as wrong_column, source_row from ({rows}))
group by wrong_column order by wrong_column
