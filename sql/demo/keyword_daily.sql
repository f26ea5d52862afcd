-- Writes keyword_daily: the rows of the queries that are tracked.
-- $keywords: tracked keywords as JSON (project, number of the query, id); $target: file.
copy (
  with keywords as (
    select unnest(from_json($keywords::json, '[{"project": "VARCHAR", "number": "INTEGER", "id": "VARCHAR"}]'), max_depth := 2)
  )
  select base.project as project_id, keywords.id as keyword_id, date, device, clicks, impressions, sum_position
  from demo_base as base
  join keywords on keywords.project = base.project and keywords.number = base.number
  order by base.project, keywords.id, date, device
) to $target (format parquet, compression zstd)
