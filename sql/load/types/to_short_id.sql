-- Five letters or digits.
create macro if not exists to_short_id(x) as case when regexp_full_match(x::varchar, '[A-Za-z0-9]{5}') then x::varchar end
