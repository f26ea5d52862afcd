-- Where the days of countries wait that are to become months.
create temporary table country_rows (date date, country varchar, clicks bigint, impressions bigint, sum_position bigint)
