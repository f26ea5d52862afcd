-- How many rows of a table a replacing load removes, and the first of them. $max: how many to name.
select count(*)::double as rows, to_json(list(row order by row)[:$max])::varchar as first
from (select struct_pack({pack}) as row from removed_{table})
