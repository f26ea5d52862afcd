-- A calendar day.
create temp macro to_day(x) as as_day(x)
