-- A JSON text, also of a structured column. Null if it is longer than a max number of bytes.
create macro if not exists as_json_text(x, bytes) as case
  when strlen(x::varchar) > bytes then null
  when typeof(x) not in ('VARCHAR', 'JSON') then to_json(x)::varchar
  when json_valid(x::varchar) then x::varchar
end
