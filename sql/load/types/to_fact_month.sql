-- The first day of a month that facts can be about.
create macro if not exists to_fact_month(x) as case when day(to_fact_day(x)) = 1 then to_fact_day(x) end
