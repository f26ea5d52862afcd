-- As facts/keyword_days.sql. {table}: keyword_daily or keyword_all; $projects and $files: the projects and addresses of the
-- files; $from, $to: days, $days: how many they are; $device: a device or 'all'; $keywords: ids.
select
  cast((k.place - 1) * $days + date_diff('day', date($from), f."date") as double) as cell,
  cast(f.clicks as double) as clicks,
  cast(f.impressions as double) as impressions,
  cast(f.sum_position as double) as "sumPosition"
from (
  select keyword_id, "date", clicks, impressions, sum_position
  from {table}
  where project_id in ($projects) and "$path" in ($files)
    and device = $device and "date" between date($from) and date($to)
) f
join (select keyword_id, place from unnest($keywords) with ordinality as u(keyword_id, place)) k
  on k.keyword_id = f.keyword_id
