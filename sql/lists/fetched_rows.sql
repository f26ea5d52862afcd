-- Creates a table for the rows that are fetched from a provider, in any order, until all of them have arrived.
create temporary table fetched_rows (text varchar, clicks bigint, impressions bigint, sum_position bigint)
