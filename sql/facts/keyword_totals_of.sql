-- Totals of some keywords. $files: of keyword_daily or keyword_all, or of keyword_months for months that the range
-- covers; $from, $to: days; $device: a device or 'all'; $keywords: ids.
select
  keyword_id as "keywordId",
  sum(clicks)::double as clicks,
  sum(impressions)::double as impressions,
  sum(sum_position)::double as "sumPosition"
from read_parquet($files)
where date between $from::date and $to::date and device = $device and keyword_id = any($keywords)
group by keyword_id
