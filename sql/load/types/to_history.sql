-- A number of days, at most a thousand years of them.
create macro if not exists to_history(x) as as_integer(x, 1, 365000)
