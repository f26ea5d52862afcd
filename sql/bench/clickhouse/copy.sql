-- Copies the rows of a plain daily file. {file}: its path.
insert into keyword_daily
select keyword_id, date, device, clicks, impressions, sum_position from file({file:String}, Parquet)
