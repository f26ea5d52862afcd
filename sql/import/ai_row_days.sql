-- The days of typed rows.
select distinct date::varchar as day, true as "hasData" from typed_rows where date is not null order by day
