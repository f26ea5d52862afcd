-- Where the rows of a provider wait, in any order, until all of them are there.
create temporary table fetched_rows (text varchar, clicks bigint, impressions bigint, sum_position bigint)
