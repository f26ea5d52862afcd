-- What a staged fact table carries for each project and part. {sums}: of its measures; {implausible}: a condition of rows;
-- {repeated}: how many may repeat a key. $files: its staged Parquet files. In no order: sorting a few rows takes a third of the statement.
select project_id as project, ({part})::double as part, count(*)::double as rows,
  min({first})::varchar as "firstDay", max({last})::varchar as "lastDay",
  greatest({sums})::varchar as largest,
  count(*) filter (where {implausible})::double as implausible, ({repeated})::double as repeated
from read_parquet($files)
group by all
