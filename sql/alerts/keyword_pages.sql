-- Impressions of the pages of keywords by day, in no order. $files: of keyword_page_daily; $from, $to: days; $keywords: ids.
-- keyword: its place in $keywords, from 0; day: days after $from; page: a number that stands for the page without its
-- fragment.
select
  k.keyword::double as keyword,
  (f.date - $from::date)::double as day,
  (hash(split_part(f.url, '#', 1)) >> 11)::double as page,
  f.impressions::double as impressions
from read_parquet($files) f
join (select unnest($keywords) as keyword_id, generate_subscripts($keywords, 1) - 1 as keyword) k
  on k.keyword_id = f.keyword_id
where f.date between $from::date and $to::date
