-- Months with more than 20 countries besides other. $files: staged Parquet files of country_monthly.
select to_json(struct_pack(project_id, month, countries := count(*)))::varchar as row, count(*)::double as times,
  count(*) over ()::double as total
from read_parquet($files) where country <> 'other'
group by project_id, month having count(*) > 20
order by project_id, month limit 3
