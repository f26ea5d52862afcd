-- Facts that repeat a key. $files: staged Parquet files of one table.
select to_json(struct_pack({pack}))::varchar as row, count(*)::double as times, count(*) over ()::double as total
from read_parquet($files) group by {key} having count(*) > 1 order by {key} limit 3
