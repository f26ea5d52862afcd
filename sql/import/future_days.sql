-- How many typed rows have a day that has not happened, the first of these days, and its text. {raw}: its column; $last: the
-- last day that may be.
select count(*)::double as rows, coalesce(min(date)::varchar, '') as day, coalesce(arg_min({raw}, date), '') as value
from typed_rows where date > $last::date
