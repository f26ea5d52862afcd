-- What an analyst would ask of the same files: totals of each property over the last days, and over as many days before.
-- $files: Parquet files of site_daily; $first, $from, $to: days.
select
  filename,
  sum(clicks) filter (where date >= $from::date) as clicks,
  sum(impressions) filter (where date >= $from::date) as impressions,
  sum(sum_position) filter (where date >= $from::date) as sum_position,
  sum(clicks) filter (where date < $from::date) as clicks_before,
  sum(impressions) filter (where date < $from::date) as impressions_before,
  sum(sum_position) filter (where date < $from::date) as sum_position_before
from read_parquet($files, filename = true)
where date between $first::date and $to::date
group by filename
