-- Hours that begin within an hour or on another Pacific day. $files: staged Parquet files of one table.
with days as (
  select *,
    list_transform([date, date + 1], lambda day: epoch_us(timezone('America/Los_Angeles', day::timestamp))) as limits
  from read_parquet($files)
)
select to_json(struct_pack(project_id, date, hour := make_timestamp(hour)))::varchar as row, count(*)::double as times,
  count(*) over ()::double as total
from days
where hour % 3600000000 <> 0 or hour not between limits[1] and limits[2] - 1
group by project_id, date, hour order by project_id, date, hour limit 3
