-- What a staged fact table carries for each project and part. $files: its staged Parquet files.
select project_id as project, ({part})::double as part, count(*)::double as rows,
  min({first})::varchar as "firstDay", max({last})::varchar as "lastDay",
  greatest(sum(clicks), sum(impressions), sum(sum_position))::double as largest,
  count(*) filter (where clicks > impressions)::double as "moreClicks"
from read_parquet($files)
group by all order by all
