-- Totals of all keywords over a range. $1, $2: days.
select keyword_id, sum(clicks) as clicks, sum(impressions) as impressions, sum(sum_position) as sum_position
from ordinate_bench
where date between $1 and $2
group by keyword_id
