-- A day that facts can be about: a wrong century would replace all days up to it.
create macro if not exists to_fact_day(x) as as_day(x, date '1990-01-01', date '2100-12-31')
