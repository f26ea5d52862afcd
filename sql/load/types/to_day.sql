-- A calendar day.
create macro if not exists to_day(x) as as_day(x, date '1000-01-01', date '9999-12-31')
