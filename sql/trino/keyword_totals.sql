-- As facts/keyword_totals.sql. {table}: keyword_daily or keyword_all; $projects and $files: the projects and addresses of
-- the files; $from, $to: days; $device: a device or 'all'.
select
  cast(from_base(to_hex(to_utf8(keyword_id)), 16) as double) as keyword,
  cast(sum(clicks) as double) as clicks,
  cast(sum(impressions) as double) as impressions,
  cast(sum(sum_position) as double) as "sumPosition"
from {table}
where project_id in ($projects) and "$path" in ($files)
  and device = $device and "date" between date($from) and date($to)
group by keyword_id
