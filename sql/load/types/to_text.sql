-- Any text. Null only for null.
create temp macro to_text(x) as x::varchar
