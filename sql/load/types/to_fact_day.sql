-- A day that facts can be about: a wrong century would replace all days up to it, and a day that has not happened would be
-- final. Needs `last_fact_day`.
create macro if not exists to_fact_day(x) as as_day(x, date '1990-01-01', getvariable('last_fact_day')::date)
