-- A day that facts can be about: a wrong century would replace all days up to it.
create temp macro to_fact_day(x) as case when as_day(x) between date '1990-01-01' and date '2100-12-31' then as_day(x) end
