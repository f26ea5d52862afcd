-- Measures of each stored day of keywords, in no order. $files: of keyword_daily or keyword_all; $from, $to: days; $days:
-- number of days; $device: a device or 'all'; $keywords: ids. cell: the index of the id in $keywords times $days, plus the
-- number of days after $from.
select
  (k.keyword * $days + (f.date - $from::date))::double as cell,
  f.clicks::double as clicks,
  f.impressions::double as impressions,
  f.sum_position::double as "sumPosition"
from read_parquet($files) f
join (select unnest($keywords) as keyword_id, generate_subscripts($keywords, 1) - 1 as keyword) k
  on k.keyword_id = f.keyword_id
where f.date between $from::date and $to::date and f.device = $device
