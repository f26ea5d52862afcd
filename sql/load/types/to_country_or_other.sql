-- An ISO 3166-1 alpha-3 code in lower case, or other.
create macro if not exists to_country_or_other(x) as
  case when regexp_full_match(x::varchar, '[a-z]{3}|other') then x::varchar end
