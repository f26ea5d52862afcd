-- Facts with more of a measure than of the one that it is a part of, such as clicks of impressions. $files: staged Parquet
-- files of one table.
select to_json(struct_pack({pack}))::varchar as row, 1::double as times, count(*) over ()::double as total
from read_parquet($files) where {measure} > {whole} order by {key} limit 3
