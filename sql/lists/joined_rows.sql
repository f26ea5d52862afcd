-- The rows of two stored lists side by side, in no order; zeros where a list has no such row, or none with impressions. $now,
-- $base: their Parquet files.
select
  coalesce(now.text, base.text) as text,
  coalesce(now.clicks, 0)::double as clicks,
  coalesce(now.impressions, 0)::double as impressions,
  coalesce(now.sum_position, 0)::double as "sumPosition",
  coalesce(base.clicks, 0)::double as "baseClicks",
  coalesce(base.impressions, 0)::double as "baseImpressions",
  coalesce(base.sum_position, 0)::double as "baseSumPosition"
from (select * from read_parquet($now) where impressions > 0) as now
full join (select * from read_parquet($base) where impressions > 0) as base on base.text = now.text
