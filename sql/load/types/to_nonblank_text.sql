-- A text of at most 64 kB that is not empty.
create macro if not exists to_nonblank_text(x) as case when strlen(x::varchar) <= 65536 and trim(x::varchar) <> '' then x::varchar end
