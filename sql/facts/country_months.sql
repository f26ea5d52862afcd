-- Monthly totals of countries. $files: Parquet files of country_monthly; $country: a country, or null for all.
select
  strftime(month, '%Y-%m') as month,
  country,
  clicks::double as clicks,
  impressions::double as impressions,
  sum_position::double as "sumPosition"
from read_parquet($files)
where $country is null or country = $country
order by month, country
