-- The files that Trino finds. {table}; $projects and $files: the projects and addresses of the files.
select distinct "$path" as path, "$file_size" as bytes
from {table}
where project_id in ($projects) and "$path" in ($files)
