-- A count that is not negative and that JSON numbers carry exactly.
create macro if not exists to_measure(x) as as_integer(x, 0, 9007199254740991)
