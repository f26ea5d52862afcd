-- The first rows of an exported table. {columns}, {separator}: of the file; {limit}. $file.
select * from read_csv($file, auto_detect = false, columns = {{columns}}, header = true, delim = '{separator}',
  quote = '"', escape = '"', comment = '', strict_mode = false, null_padding = false, parallel = false) limit {limit}
