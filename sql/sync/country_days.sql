-- The days that wait to become months of countries.
select distinct date::varchar as day from country_rows order by day
