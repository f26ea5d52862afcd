-- How many texts of a column look like formulas, and how many are such texts behind an apostrophe. {columns}, {separator}: of
-- the file; {column}. $file.
select (count(*) filter (where regexp_matches({column}, '^[=+\-@\t\r]')))::double as formulas,
  (count(*) filter (where regexp_matches({column}, '^''[=+\-@\t\r]')))::double as guarded
from read_csv($file, auto_detect = false, columns = {{columns}}, header = true, delim = '{separator}', quote = '"',
  escape = '"', comment = '', strict_mode = false)
