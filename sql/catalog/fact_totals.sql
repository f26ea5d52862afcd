-- Files, rows and bytes of the facts of at most $limit projects that follow project $after, by table. `last` is the last of
-- these projects; without further projects there are no rows.
with chosen as (select id from projects where id > $after order by id limit $limit)
select f.fact_table as "table", count(f.file) as files, coalesce(sum(f.rows), 0) as rows,
  coalesce(sum(f.bytes), 0) as bytes, (select max(id) from chosen) as last
from chosen left join fact_files f on f.project_id = chosen.id group by f.fact_table
