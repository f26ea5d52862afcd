-- The page of each of some keywords with most impressions, without its fragment. $files: of keyword_page_daily; $from, $to:
-- days; $keywords: ids.
select keyword, url
from (
  select
    keyword_id as keyword,
    split_part(url, '#', 1) as url,
    row_number() over (
      partition by keyword_id order by sum(impressions) desc, sum(clicks) desc, split_part(url, '#', 1)
    ) as number
  from read_parquet($files)
  where date between cast($from as date) and cast($to as date)
    and keyword_id in (select unnest($keywords) as keyword_id)
  group by keyword_id, split_part(url, '#', 1)
) as pages
where number = 1
