-- What a table of AI reports counts, by day or page, in order. {name}: date or url; {measure}: the column; {first}, {last}:
-- those of the days of a row. $files: of ai_daily, ai_page_period, citation_daily or citation_page_period; $from, $to: days.
select
  cast({name} as varchar) as name,
  cast(sum({measure}) as double) as count
from read_parquet($files)
where {first} >= cast($from as date) and {last} <= cast($to as date)
group by {name}
order by 1
