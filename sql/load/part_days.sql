-- First and last day of a written file. $file.
select min({day})::varchar as "firstDay", max({day})::varchar as "lastDay" from read_parquet($file)
