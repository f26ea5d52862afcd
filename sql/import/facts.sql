-- Writes a fact table from exported tables: of several that have a day (or a range) the one with the least priority.
-- {selects}; {day}: columns of the day or range; {condition}: of rows that are written. $project, $target, and the
-- parameters of the selects.
copy (
  select $project as project_id, * exclude (priority, clicks, impressions, sum_position),
    sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions, sum(sum_position)::bigint as sum_position
  from (
    select * from ({selects}) where {condition} qualify priority = min(priority) over (partition by {day})
  ) group by all
) to $target (format parquet)
