-- Impressions of the pages of keywords by day, in no order. $files: of keyword_page_daily; $from, $to: days; $all: whether all
-- keywords are read, otherwise $keywords: ids. keyword: its id as a number (`shortIdNumber`); day: days after $from; page: a
-- number that stands for the page without its fragment.
select
  ('0x' || hex(keyword_id))::bigint::double as keyword,
  (date - $from::date)::double as day,
  (hash(split_part(url, '#', 1)) >> 11)::double as page,
  impressions::double as impressions
from read_parquet($files)
where date between $from::date and $to::date and ($all or keyword_id in (select unnest($keywords)))
