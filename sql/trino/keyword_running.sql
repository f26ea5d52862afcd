-- As facts/keyword_running.sql. $projects and $files: the projects and addresses of the files; $through, $before: first days
-- of the months, $before may be null; $device: a device or 'all'.
select
  cast(number as double) as keyword,
  cast(if("date" = cast($before as date), -clicks, clicks) as double) as clicks,
  cast(if("date" = cast($before as date), -impressions, impressions) as double) as impressions,
  cast(if("date" = cast($before as date), -sum_position, sum_position) as double) as "sumPosition"
from keyword_running
where project_id in ($projects) and "$path" in ($files)
  and device = $device and ("date" = date($through) or "date" = cast($before as date))
