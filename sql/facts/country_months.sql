-- Totals of the months that a range touches. $files: Parquet files of country_monthly; $from, $to: days; $country: a
-- country, or null for all.
select
  substr(cast(month as varchar), 1, 7) as month,
  country,
  cast(clicks as double) as clicks,
  cast(impressions as double) as impressions,
  cast(sum_position as double) as "sumPosition"
from read_parquet($files)
where month between date_trunc('month', cast($from as date)) and cast($to as date)
  and (cast($country as varchar) is null or country = cast($country as varchar))
order by month, country
