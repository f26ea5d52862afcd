-- A value as JSON for a message; long texts are truncated.
create macro if not exists as_shown(x) as case
  when strlen(x::varchar) > 300 then to_json(left(x::varchar, 300) || '… (' || strlen(x::varchar) || ' bytes)')
  else to_json(x)
end
