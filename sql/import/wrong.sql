-- How many rows have a wrong value, and the first. {column}: null where it is wrong; {raw}: its text.
select count(*)::double as rows, coalesce(any_value({raw}), '') as value from typed_rows where {column} is null
