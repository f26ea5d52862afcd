-- Periods that end before they begin or are longer than a range may be (486 days). $files: staged Parquet files of one table.
select to_json(struct_pack(project_id, first_day, last_day))::varchar as row, count(*)::double as times,
  count(*) over ()::double as total
from read_parquet($files) where last_day not between first_day and first_day + 485
group by project_id, first_day, last_day order by project_id, first_day, last_day limit 3
