-- Clicks of some keywords or pages by day, in no order. {name}: the column that $names are of. $files: of keyword_all or
-- page_daily; $from, $to: days; $days: number of days. cell: the index of the name in $names times $days, plus the number
-- of days after $from.
select
  cast((n.place - 1) * $days + date_diff('day', cast($from as date), f.date) as double) as cell,
  cast(sum(f.clicks) as double) as clicks
from read_parquet($files) f
join (select unnest($names) as name, generate_subscripts($names, 1) as place) n on n.name = f.{name}
where f.date between cast($from as date) and cast($to as date)
group by 1
