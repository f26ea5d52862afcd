-- Creates demo_countries: the totals of every site by day and country, and whether the country is among the site's
-- twenty largest. No parameters.
create table demo_countries as
with ranked as (
  select project, country, row_number() over (partition by project order by sum(impressions) desc, country) <= 20 as is_large
  from demo_split
  group by project, country
)
select
  split.project, split.date, split.country, any_value(is_large) as is_large,
  sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions, sum(sum_position)::bigint as sum_position
from demo_split as split
join ranked on ranked.project = split.project and ranked.country = split.country
group by split.project, split.date, split.country
