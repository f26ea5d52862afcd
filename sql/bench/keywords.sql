-- Writes the entity table keywords. $target: file. Needs bench_projects and bench_texts.
copy (
  select
    id as project_id, lpad(number::varchar, 5, '0') as id, text as query, timestamp '2024-01-01 00:00:00' as tracked_since
  from bench_projects, unnest(range(keywords)) as numbers(keyword)
  join bench_texts on number = keyword
  order by project_id, id
) to $target (format parquet)
