-- Makes a file current, of a revision that is not known yet. $project, $table, $part; $file: below the data folder; $rows;
-- $firstDay, $lastDay; $bytes; $sha256: hexadecimal.
insert into fact_files (project_id, fact_table, part, file, rows, first_day, last_day, bytes, sha256, revision)
values ($project, $table, $part, $file, $rows, $firstDay, $lastDay, $bytes, $sha256, 0)
on conflict (project_id, fact_table, part) do update set file = excluded.file, rows = excluded.rows,
  first_day = excluded.first_day, last_day = excluded.last_day, bytes = excluded.bytes, sha256 = excluded.sha256,
  revision = 0
