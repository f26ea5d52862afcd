-- An absolute URL.
create temp macro to_url(x) as
  case when regexp_full_match(x::varchar, '(?s)[A-Za-z][A-Za-z0-9+.-]*://.+') then x::varchar end
