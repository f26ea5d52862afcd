-- A count that is not negative and that JSON numbers carry exactly.
create temp macro to_measure(x) as case when as_whole(x) between 0 and 9007199254740991 then as_whole(x) end
