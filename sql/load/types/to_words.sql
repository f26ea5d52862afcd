-- A text that is not empty.
create temp macro to_words(x) as case when trim(x::varchar) <> '' then x::varchar end
