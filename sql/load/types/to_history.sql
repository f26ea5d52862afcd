-- A number of days of at least one.
create temp macro to_history(x) as case when as_whole(x) between 1 and 365000 then as_whole(x) end
