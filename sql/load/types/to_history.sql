-- A number of days of at least one.
create macro if not exists to_history(x) as as_integer(x, 1, 365000)
