-- Impressions and positions of keywords by day, in no order. $files: of keyword_all; $from, $to: days, $days: how many they
-- are; $keywords: ids. cell: $days and one more times the place of the id in $keywords, from 0, the days after $from, and one.
select
  (k.keyword * ($days + 1) + (f.date - $from::date) + 1)::double as cell,
  f.impressions::double as impressions,
  f.sum_position::double as "sumPosition"
from read_parquet($files) f
join (select unnest($keywords) as keyword_id, generate_subscripts($keywords, 1) - 1 as keyword) k
  on k.keyword_id = f.keyword_id
where f.date between $from::date and $to::date
