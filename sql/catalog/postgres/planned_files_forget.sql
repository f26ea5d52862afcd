-- Forgets files that loads have planned. $files: their names, a JSON array.
delete from planned_files where file in (select json_array_elements_text($files::json))
