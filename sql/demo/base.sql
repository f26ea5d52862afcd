-- Creates demo_base: clicks, impressions and zero-based sum of positions of every query on every day and device.
-- All other facts are sums and splits of these rows. $seed: text.
create table demo_base as
with drawn as (
  select
    queries.*, days.date, days.device, days.age, days.demand, days.rank,
    queries.moved <= days.date and coalesce(days.date < queries.returned, true) as is_down,
    -- Four independent numbers of 16 bits each.
    hash($seed, queries.project, queries.number, days.date, days.device) as dice
  from demo_queries as queries
  join demo_days as days on days.project = queries.project
),
placed as (
  select
    *,
    greatest(1, least(60,
      position * rank * if(is_down, worse, 1)
      * (1 + drift * age / 365) * (1 + wave * sin(6.2832 * age / period + phase))
      * (0.95 + 0.1 * (dice & 65535) / 65536)
    )) as found_at
  from drawn
),
shown as (
  select
    *,
    -- Fractions are rounded at random, so that rare queries appear on some days and the mean stays the same.
    floor(
      volume * demand * if(is_down, kept, 1)
      * exp(strength * cos(6.2832 * (dayofyear(date) - peak) / 365))
      * least(1, greatest(10, position) / found_at)
      * (0.75 + 0.5 * (dice >> 16 & 65535) / 65536)
      + (dice >> 32 & 65535) / 65536
    )::bigint as impressions
  from placed
)
select
  project, number, date, device,
  least(impressions,
    floor(impressions * appeal * 0.27 / power(found_at, 1.1) + (dice >> 48 & 65535) / 65536))::bigint as clicks,
  impressions,
  round((found_at - 1) * impressions)::bigint as sum_position
from shown
where impressions > 0
