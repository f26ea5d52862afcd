-- Pages of a staged table that do not belong to the property. {condition}. $file, and the parameters of the condition.
select page, count(*) over ()::double as pages from read_parquet($file) where {condition} limit 1
