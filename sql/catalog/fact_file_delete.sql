-- Removes a part without rows from the manifest. $project, $table, $part.
delete from fact_files where project_id = $project and fact_table = $table and part = $part
