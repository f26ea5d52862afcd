-- An upper-case identifier.
create macro if not exists to_appearance(x) as
  case when regexp_full_match(x::varchar, '[A-Z][A-Z0-9_]*') then x::varchar end
