-- How many rows an exported table has. {columns}, {separator}: of the file. $file.
select count(*)::double as rows from read_csv($file, auto_detect = false, columns = {{columns}}, header = true,
  delim = '{separator}', quote = '"', escape = '"', comment = '', strict_mode = false)
