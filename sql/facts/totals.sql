-- Totals by name. {name}: the column of the names. $files: Parquet files of one table; $from, $to: days.
select
  {name} as name,
  cast(sum(clicks) as double) as clicks,
  cast(sum(impressions) as double) as impressions,
  cast(sum(sum_position) as double) as "sumPosition"
from read_parquet($files)
where date between cast($from as date) and cast($to as date)
group by {name}
