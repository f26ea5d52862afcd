-- Impressions of the pages of keywords by day, in no order. $files: of keyword_page_daily; $from, $to: days; $all: whether all
-- keywords are read, otherwise $keywords: ids. keyword: its id as a number (`shortIdNumber`); day: days after $from; page: a
-- number that stands for the page without its fragment.
select
  cast(cast('0x' || hex(keyword_id) as bigint) as double) as keyword,
  cast(date_diff('day', cast($from as date), date) as double) as day,
  cast(hash(split_part(url, '#', 1)) >> 11 as double) as page,
  cast(impressions as double) as impressions
from read_parquet($files)
where date between cast($from as date) and cast($to as date)
  and ($all or keyword_id in (select unnest($keywords) as keyword_id))
