-- Measures of each stored day of keywords, in no order. $files: of keyword_daily or keyword_all; $from, $to: days; $days:
-- number of days; $device: a device or 'all'; $keywords: ids. cell: the index of the id in $keywords times $days, plus the
-- number of days after $from.
select
  cast((k.ordinal - 1) * $days + date_diff('day', cast($from as date), f.date) as double) as cell,
  cast(f.clicks as double) as clicks,
  cast(f.impressions as double) as impressions,
  cast(f.sum_position as double) as "sumPosition"
from read_parquet($files) f
join (select unnest($keywords) as keyword_id, generate_subscripts($keywords, 1) as ordinal) k
  on k.keyword_id = f.keyword_id
where f.date between cast($from as date) and cast($to as date) and f.device = $device
