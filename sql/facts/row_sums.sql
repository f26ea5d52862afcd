-- The rows of row_names, which are numbered from 0 in that order, by time before $to: week, and (unless $weekly) window of
-- $days days and week before the newest window. {text}, $files, $from, $country, $least and $most: as there. first, last: the
-- ages in days of the first and the last day with rows. Rows with fewer than $clicks clicks have the newest $recent days only.
with names as (
  select {text} as text, row_number() over (order by sum(impressions) desc, {text}) - 1 as number, sum(clicks) as clicks
  from read_parquet($files)
  where date between cast($from as date) and cast($to as date)
    and (cast($country as varchar) is null or country = cast($country as varchar))
  group by {text}
  having sum(impressions) >= $least
)
select
  cast(number as double) as number,
  cast(max(date_diff('day', date, cast($to as date))) as double) as first,
  cast(min(date_diff('day', date, cast($to as date))) as double) as last,
  cast(sum(f.clicks) as double) as clicks,
  cast(sum(impressions) as double) as impressions,
  cast(sum(sum_position) as double) as sum_position
from read_parquet($files) f
inner join names on names.text = f.{text}
where date between cast($from as date) and cast($to as date)
  and (cast($country as varchar) is null or country = cast($country as varchar))
  and number < $most
  and (names.clicks >= $clicks or date_diff('day', date, cast($to as date)) < $recent)
group by
  number,
  floor(date_diff('day', date, cast($to as date)) / 7e0),
  case when $weekly then 0e0 else floor(date_diff('day', date, cast($to as date)) / cast($days as double)) end,
  case when $weekly then 0e0 else floor((date_diff('day', date, cast($to as date)) - $days) / 7e0) end
