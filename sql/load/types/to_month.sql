-- The first day of a month.
create temp macro to_month(x) as case when day(to_day(x)) = 1 then to_day(x) end
