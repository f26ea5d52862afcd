-- Totals of all keywords over a range. {from}, {to}: days.
select keyword_id, sum(clicks) as clicks, sum(impressions) as impressions, sum(sum_position) as sum_position
from keyword_daily
where date between {from:Date} and {to:Date}
group by keyword_id
