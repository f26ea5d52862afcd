-- A JSON text of at most 64 kB.
create macro if not exists to_json_text(x) as as_json_text(x, 65536)
