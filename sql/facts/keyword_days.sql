-- Measures of each stored day of keywords. $files: Parquet files of keyword_daily; $from, $to: days; $device: a device
-- or 'all'; $keywords: ids.
select
  keyword_id as "keywordId",
  date::varchar as date,
  sum(clicks)::double as clicks,
  sum(impressions)::double as impressions,
  sum(sum_position)::double as "sumPosition"
from read_parquet($files)
where date between $from::date and $to::date
  and ($device = 'all' or device = $device)
  and keyword_id = any($keywords)
group by keyword_id, date
order by keyword_id, date
