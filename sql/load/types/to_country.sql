-- An ISO 3166-1 alpha-3 code in lower case.
create macro if not exists to_country(x) as case when regexp_full_match(x::varchar, '[a-z]{3}') then x::varchar end
