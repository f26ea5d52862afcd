-- The pages with most clicks. $files: of page_daily; $from, $to: days; $limit.
select url as name, cast(sum(clicks) as double) as clicks
from read_parquet($files)
where date between cast($from as date) and cast($to as date)
group by url
order by 2 desc, 1
limit $limit
