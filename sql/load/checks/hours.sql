-- Hours that begin within an hour or on another Pacific day, which begins at 7 or 8 o'clock UTC. $files: staged Parquet
-- files of one table.
select to_json(struct_pack(project_id, date, hour := make_timestamp(hour)))::varchar as row, count(*)::double as times,
  count(*) over ()::double as total
from read_parquet($files)
where hour % 3600000000 <> 0 or hour - epoch_us(date::timestamp) not between 7 * 3600000000 and 32 * 3600000000 - 1
group by project_id, date, hour order by project_id, date, hour limit 3
