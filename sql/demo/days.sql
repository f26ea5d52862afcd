-- Creates demo_days: for every site, day and device, a factor for demand and a factor for positions (`rank`).
-- $sites: the sites as JSON; $first, $last: days; $seed: text.
create table demo_days as
with sites as (
  select unnest(from_json($sites::json, '[{
    "project": "VARCHAR",
    "growth": "DOUBLE",
    "weekdays": ["DOUBLE"],
    "devices": [{"device": "VARCHAR", "share": "DOUBLE", "rank": "DOUBLE"}],
    "events": [{"date": "DATE", "before": "DOUBLE", "after": "DOUBLE", "demand": "DOUBLE", "rank": "DOUBLE"}]
  }]'), max_depth := 2)
),
days as (
  select
    project, devices, date,
    date_diff('day', date, $last::date) as age,
    weekdays[isodow(date)] * power(growth, -date_diff('day', date, $last::date) / 365)
      * (0.95 + 0.1 * (hash($seed, project, date) & 65535) / 65536) as demand,
    -- An event is near 1 on its day and fades to 0 on both sides of it.
    list_transform(events, lambda event: {
      'near': exp(-power((date - event.date) / if(date < event.date, event.before, event.after), 2)),
      'demand': event.demand,
      'rank': event.rank
    }) as effects
  from sites, (select unnest(generate_series($first::date, $last::date, interval 1 day))::date as date)
)
select
  project, date, age, each.device as device,
  each.share * demand * list_product(list_transform(effects, lambda event: 1 + event.near * (event.demand - 1))) as demand,
  each.rank * list_product(list_transform(effects, lambda event: 1 + event.near * (event.rank - 1))) as rank
from (select project, date, age, demand, effects, unnest(devices) as each from days)
