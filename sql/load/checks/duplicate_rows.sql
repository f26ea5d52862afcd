-- Rows of an entity table that repeat a key.
select to_json(struct_pack({pack}))::varchar as row, count(*)::double as times, count(*) over ()::double as total
from new_{table} group by {key} having count(*) > 1 order by {key} limit 3
