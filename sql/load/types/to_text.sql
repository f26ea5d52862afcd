-- Any text of at most 64 kB.
create macro if not exists to_text(x) as case when strlen(x::varchar) <= 65536 then x::varchar end
