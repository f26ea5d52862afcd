-- As facts/site_daily.sql. $projects and $files: the projects and addresses of the files; $from, $to: days; $device: a
-- device or 'all'.
select
  cast("date" as varchar) as "date",
  cast($device <> 'all' and bool_or(device = 'unknown') as double) as "hasUnknownDevice",
  cast(coalesce(sum(clicks) filter (where $device = 'all' or device = $device), 0) as double) as clicks,
  cast(coalesce(sum(impressions) filter (where $device = 'all' or device = $device), 0) as double) as impressions,
  cast(coalesce(sum(sum_position) filter (where $device = 'all' or device = $device), 0) as double) as "sumPosition"
from site_daily
where project_id in ($projects) and "$path" in ($files)
  and "date" between date($from) and date($to)
group by "date"
order by "date"
