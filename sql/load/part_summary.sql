-- What a written file holds. $file.
select count(*)::double as rows, min({day})::varchar as "firstDay", max({day})::varchar as "lastDay"
from read_parquet($file)
