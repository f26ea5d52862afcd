-- The pages of keywords, without fragments, and the numbers that stand for them (see keyword_pages). $files: of
-- keyword_page_daily; $from, $to: days; $keywords: ids.
select distinct (hash(split_part(url, '#', 1)) >> 11)::double as page, split_part(url, '#', 1) as url
from read_parquet($files)
where date between $from::date and $to::date and keyword_id = any($keywords)
