-- Pages or queries by time before $to. {text}: their column; {times}: what of `age`, besides the week, tells times apart.
-- $files: of page_daily or query_daily; $from, $to: days; $country: a country, or null for all. page: a number that stands for
-- the text; first, last: the ages in days of the first and the last day with rows.
select
  page,
  cast(max(age) as double) as first,
  cast(min(age) as double) as last,
  sum(clicks) as clicks,
  sum(impressions) as impressions,
  sum(sum_position) as sum_position
from (
  select
    cast(hash({text}) >> 11 as double) as page,
    cast(date_diff('day', date, cast($to as date)) as smallint) as age,
    cast(clicks as double) as clicks,
    cast(impressions as double) as impressions,
    cast(sum_position as double) as sum_position
  from read_parquet($files)
  where date between cast($from as date) and cast($to as date)
    and (cast($country as varchar) is null or country = cast($country as varchar))
)
group by page, cast(floor(age / 7e0) as smallint){times}
