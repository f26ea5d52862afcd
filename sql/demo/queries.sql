-- Creates demo_queries: a row for every query of the sites, with the parameters of its impressions and positions.
-- $queries: the queries as JSON (see QueryModel in scripts/demo/queries.ts).
create table demo_queries as
select unnest(from_json($queries::json, '[{
  "number": "INTEGER", "project": "VARCHAR", "text": "VARCHAR", "page": "VARCHAR",
  "volume": "DOUBLE", "position": "DOUBLE", "appeal": "DOUBLE", "peak": "DOUBLE", "strength": "DOUBLE",
  "drift": "DOUBLE", "wave": "DOUBLE", "period": "DOUBLE", "phase": "DOUBLE",
  "moved": "DATE", "returned": "DATE", "worse": "DOUBLE", "kept": "DOUBLE",
  "slices": [{"country": "VARCHAR", "low": "DOUBLE", "high": "DOUBLE"}]
}]'), max_depth := 2)
