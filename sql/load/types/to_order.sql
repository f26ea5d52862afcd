-- A whole number of 32 bits.
create temp macro to_order(x) as case when as_whole(x) between -2147483648 and 2147483647 then as_whole(x) end
