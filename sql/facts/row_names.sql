-- The pages or queries of some days with the most impressions, in that order. {text}: their column. $files: of page_daily or
-- query_daily; $from, $to: days; $country: a country, or null for all; $least: impressions that a row must have; $most: rows.
-- page: a number that stands for the text, as in row_days.
select {text} as text, cast(hash({text}) >> 11 as double) as page, cast(sum(clicks) as double) as clicks
from read_parquet($files)
where date between cast($from as date) and cast($to as date)
  and (cast($country as varchar) is null or country = cast($country as varchar))
group by {text}
having sum(impressions) >= $least
order by sum(impressions) desc, {text}
limit $most
