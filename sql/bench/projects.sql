-- Creates bench_projects: what is generated for each project. $projects: JSON, a list of objects with id, workspace and
-- the numbers of keywords, days, queries and pages.
create or replace temp table bench_projects as
select unnest(from_json($projects, '[{
  "id": "VARCHAR", "workspace": "VARCHAR", "keywords": "INTEGER", "days": "INTEGER", "queries": "INTEGER", "pages": "INTEGER"
}]'), max_depth := 2)
