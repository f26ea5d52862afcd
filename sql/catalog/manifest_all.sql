-- The whole manifest, for the journal and `verify`.
select project_id as project, fact_table as "table", part, file, rows, first_day as firstDay, last_day as lastDay,
  bytes, sha256 from fact_files order by project_id, fact_table, part
