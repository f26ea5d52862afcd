-- Writes keyword_page_daily: the page of each tracked query, or the one that ranks in its place for a while.
-- $keywords: tracked keywords as JSON (project, number of the query, id); $moves: JSON (project, number of the query, page,
-- first day, day on which it ends or null); $target: file.
copy (
  with keywords as (
    select unnest(from_json($keywords::json, '[{"project": "VARCHAR", "number": "INTEGER", "id": "VARCHAR"}]'), max_depth := 2)
  ),
  moves as (
    select unnest(from_json($moves::json, '[{
      "project": "VARCHAR", "number": "INTEGER", "page": "VARCHAR", "first": "DATE", "until": "DATE"
    }]'), max_depth := 2)
  )
  select
    base.project as project_id, keywords.id as keyword_id, base.date, coalesce(moves.page, queries.page) as url,
    sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions, sum(sum_position)::bigint as sum_position
  from demo_base as base
  join keywords on keywords.project = base.project and keywords.number = base.number
  join demo_queries as queries on queries.project = base.project and queries.number = base.number
  left join moves on moves.project = base.project and moves.number = base.number
    and base.date >= moves.first and (moves.until is null or base.date < moves.until)
  where coalesce(moves.page, queries.page) is not null
  group by all
  order by project_id, keyword_id, date
) to $target (format parquet, compression zstd)
