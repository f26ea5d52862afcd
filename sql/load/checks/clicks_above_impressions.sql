-- Facts with more clicks than impressions, which is impossible. $files: staged Parquet files of one table.
select to_json(struct_pack({pack}, clicks := clicks, impressions := impressions))::varchar as row, 1::double as times,
  count(*) over ()::double as total
from read_parquet($files) where clicks > impressions order by {key} limit 3
