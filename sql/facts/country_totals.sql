-- Totals of each country. $files: Parquet files of country_daily; $from, $to: days.
select
  country as name,
  sum(clicks)::double as clicks,
  sum(impressions)::double as impressions,
  sum(sum_position)::double as "sumPosition"
from read_parquet($files)
where date between $from::date and $to::date
group by country
