-- Measures of one country on each day. $files: Parquet files of country_daily; $from, $to: days; $country.
select
  cast(date as varchar) as date,
  cast(clicks as double) as clicks,
  cast(impressions as double) as impressions,
  cast(sum_position as double) as "sumPosition"
from read_parquet($files)
where date between cast($from as date) and cast($to as date) and country = $country
order by date
