-- Writes typed rows of a search type. {keys}: columns; {type}. $target.
copy (select {keys}, clicks, impressions, sum_position from typed_rows where search_type = '{type}') to $target (format parquet)
