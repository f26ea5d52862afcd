-- The pages of keywords, without fragments, in order. $files: of keyword_page_daily; $from, $to: days; $keywords: ids.
select distinct split_part(url, '#', 1) as url
from read_parquet($files)
where date between cast($from as date) and cast($to as date) and keyword_id in (select unnest($keywords) as keyword_id)
order by 1
