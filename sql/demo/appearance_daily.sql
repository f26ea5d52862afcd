-- Writes appearance_daily: the part of a site's results with a search appearance, by day. Appearances overlap.
-- $appearances: JSON (project, appearance, share of impressions, clicks per impression and position relative to the
-- site's); $seed: text; $target: file.
copy (
  with appearances as (
    select unnest(from_json($appearances::json, '[{
      "project": "VARCHAR", "appearance": "VARCHAR", "share": "DOUBLE", "appeal": "DOUBLE", "rank": "DOUBLE"
    }]'), max_depth := 2)
  ),
  days as (
    select project, date, sum(clicks) as clicks, sum(impressions) as impressions, sum(sum_position) as sum_position
    from demo_base
    group by project, date
  ),
  marked as (
    select
      appearances.*, date, clicks / days.impressions as ctr, sum_position / days.impressions as average,
      round(days.impressions * share * (0.9 + 0.2 * (hash($seed, appearance, date) & 65535) / 65536))::bigint as impressions
    from days
    join appearances on appearances.project = days.project
  )
  select
    project as project_id, date, appearance,
    least(impressions, round(impressions * ctr * appeal))::bigint as clicks,
    impressions,
    round(impressions * average * rank)::bigint as sum_position
  from marked
  where impressions > 0
  order by project_id, date, appearance
) to $target (format parquet, compression zstd)
