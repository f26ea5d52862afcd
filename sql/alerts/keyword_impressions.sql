-- Impressions and positions of keywords by day, in no order. $files: of keyword_all; $from, $to: days, $days: how many they
-- are; $keywords: ids. cell: $days and one more times the ordinal of the id in $keywords, from 0, the days after $from, and one.
select
  cast((k.ordinal - 1) * ($days + 1) + date_diff('day', cast($from as date), f.date) + 1 as double) as cell,
  cast(f.impressions as double) as impressions,
  cast(f.sum_position as double) as "sumPosition"
from read_parquet($files) f
join (select unnest($keywords) as keyword_id, generate_subscripts($keywords, 1) as ordinal) k
  on k.keyword_id = f.keyword_id
where f.date between cast($from as date) and cast($to as date)
