-- The days of typed rows, whether any of their rows has data, and how many have none.
select date::varchar as day, bool_or(has_data) as "hasData", (count(*) filter (where not has_data))::double as "emptyRows"
from typed_rows where date is not null group by date order by date
