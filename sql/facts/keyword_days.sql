-- Measures of each stored day of keywords, in no order. $files: of keyword_daily or keyword_all; $from, $to: days;
-- $device: a device or 'all'; $keywords: ids.
select
  keyword_id as "keywordId",
  date::varchar as date,
  clicks::double as clicks,
  impressions::double as impressions,
  sum_position::double as "sumPosition"
from read_parquet($files)
where date between $from::date and $to::date and device = $device and keyword_id = any($keywords)
order by keyword_id, date
