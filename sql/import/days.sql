-- The days of typed rows of a search type, and whether any of their rows has data. {type}.
select date::varchar as day, bool_or(has_data) as "hasData" from typed_rows
where date is not null and search_type = '{type}' group by date order by date
