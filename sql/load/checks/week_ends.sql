-- Weeks that end on another weekday than the last one of their project: their days would be in two weeks. $files: staged
-- Parquet files of one table.
with weeks as (select project_id, week_end, count(*) as n from read_parquet($files) group by project_id, week_end),
  compared as (select *, max(week_end) over (partition by project_id) as last from weeks)
select to_json(struct_pack(project_id, week_end, last))::varchar as row, n::double as times, count(*) over ()::double as total
from compared where (last - week_end) % 7 <> 0 order by project_id, week_end limit 3
