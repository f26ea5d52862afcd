-- An absolute URL of at most 64 kB.
create macro if not exists to_url(x) as case
  when strlen(x::varchar) <= 65536 and regexp_full_match(x::varchar, '(?s)[A-Za-z][A-Za-z0-9+.-]*://.+') then x::varchar
end
