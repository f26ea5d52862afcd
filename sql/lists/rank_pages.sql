-- The pages of a range in the order of the API, best first. $files: Parquet files of page_daily; $from, $to: days;
-- $country: a country, or null for all; $max: max number of rows.
create temporary table ranked_rows as
select row_number() over (order by clicks desc, impressions desc, text) as rank, *
from (
  select url as text, sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions,
    sum(sum_position)::bigint as sum_position
  from read_parquet($files)
  where date between $from::date and $to::date and ($country is null or country = $country)
  group by url
)
order by rank
limit $max
