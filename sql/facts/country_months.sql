-- Totals of the months that a range touches. $files: Parquet files of country_monthly; $from, $to: days; $country: a
-- country, or null for all.
select
  strftime(month, '%Y-%m') as month,
  country,
  clicks::double as clicks,
  impressions::double as impressions,
  sum_position::double as "sumPosition"
from read_parquet($files)
where month between date_trunc('month', $from::date) and $to::date and ($country is null or country = $country)
order by month, country
