-- Pages or queries by time before $to: week, and (unless $weekly) window of $days days and week before the newest window.
-- {text}: their column. $files: of page_daily or query_daily; $from, $to: days; $country: a country, or null for all. page: a
-- number that stands for the text; first, last: the ages in days of the first and the last day with rows.
select
  page,
  max(age) as first,
  min(age) as last,
  sum(clicks) as clicks,
  sum(impressions) as impressions,
  sum(sum_position) as sum_position
from (
  select
    cast(hash({text}) >> 11 as double) as page,
    cast(date_diff('day', date, cast($to as date)) as double) as age,
    cast(clicks as double) as clicks,
    cast(impressions as double) as impressions,
    cast(sum_position as double) as sum_position
  from read_parquet($files)
  where date between cast($from as date) and cast($to as date)
    and (cast($country as varchar) is null or country = cast($country as varchar))
)
group by
  page,
  floor(age / 7e0),
  case when $weekly then 0e0 else floor(age / cast($days as double)) end,
  case when $weekly then 0e0 else floor((age - $days) / 7e0) end
