-- Creates demo_split: the rows of demo_base without device, divided among countries in whole numbers that add up.
-- $seed: text.
create table demo_split as
with totals as (
  select
    project, number, date,
    sum(clicks) as clicks, sum(impressions) as impressions, sum(sum_position) as sum_position,
    hash($seed, 'split', project, number, date) as dice
  from demo_base
  group by project, number, date
),
slices as (
  select project, number, unnest(slices, max_depth := 2) from demo_queries
),
-- A country gets what lies between two cuts of the total. A random number moves all cuts together: otherwise a total of
-- one would always go to the same country.
cuts as (
  select
    totals.*, country,
    floor(impressions * low + (dice & 65535) / 65536) as below,
    floor(impressions * high + (dice & 65535) / 65536) as upto
  from totals
  join slices on slices.project = totals.project and slices.number = totals.number
)
select
  project, number, date, country,
  (floor(clicks * upto / impressions + (dice >> 16 & 65535) / 65536)
    - floor(clicks * below / impressions + (dice >> 16 & 65535) / 65536))::bigint as clicks,
  (upto - below)::bigint as impressions,
  (floor(sum_position * upto / impressions) - floor(sum_position * below / impressions))::bigint as sum_position
from cuts
where upto > below
