-- A 32-bit whole number.
create macro if not exists to_order(x) as as_integer(x, -2147483648, 2147483647)
