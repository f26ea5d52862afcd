-- Keeps planned files until they are removed once more. $files: their names, a JSON array; $at: when, in microseconds.
update planned_files set again_at = $at where file in (select json_array_elements_text($files::json))
