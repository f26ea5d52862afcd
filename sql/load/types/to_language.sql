-- A language code of two letters in lower case.
create macro if not exists to_language(x) as case when regexp_full_match(x::varchar, '[a-z]{2}') then x::varchar end
