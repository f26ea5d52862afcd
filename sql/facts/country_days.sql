-- Measures of one country on each day. $files: Parquet files of country_daily; $from, $to: days; $country.
select
  date::varchar as date,
  clicks::double as clicks,
  impressions::double as impressions,
  sum_position::double as "sumPosition"
from read_parquet($files)
where date between $from::date and $to::date and country = $country
order by date
