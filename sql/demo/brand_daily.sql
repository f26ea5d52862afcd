-- Writes brand_daily: visible queries with and without a brand term of their project.
-- $brands: brand terms as JSON (project, term); $target: file.
copy (
  with brands as (
    select unnest(from_json($brands::json, '[{"project": "VARCHAR", "term": "VARCHAR"}]'), max_depth := 2)
  ),
  segments as (
    select
      project, number,
      if(exists (
        from brands where brands.project = queries.project and contains(lower(queries.text), lower(brands.term))
      ), 'brand', 'non_brand') as segment
    from demo_queries as queries
    where text is not null
  )
  select
    base.project as project_id, date, segment,
    sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions, sum(sum_position)::bigint as sum_position
  from demo_base as base
  join segments on segments.project = base.project and segments.number = base.number
  group by base.project, date, segment
  order by base.project, date, segment
) to $target (format parquet, compression zstd)
