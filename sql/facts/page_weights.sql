-- The pages of some days, those with most impressions first. $files: of page_daily; $from, $to: days; $recent: clicks are
-- those of the days from it on, $newest: of the days from it on; $limit. first: days from $from to the first with rows.
select
  url,
  cast(min(date_diff('day', cast($from as date), date)) as double) as first,
  cast(sum(case when date >= cast($recent as date) then clicks else 0 end) as double) as clicks,
  cast(sum(case when date >= cast($newest as date) then clicks else 0 end) as double) as "newestClicks",
  cast(sum(impressions) as double) as impressions
from read_parquet($files)
where date between cast($from as date) and cast($to as date)
group by url
order by 5 desc, 1
limit $limit
