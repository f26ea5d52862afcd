-- A whole number of 32 bits.
create macro if not exists to_order(x) as as_integer(x, -2147483648, 2147483647)
