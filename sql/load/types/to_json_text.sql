-- A JSON text; structured columns become one.
create temp macro to_json_text(x) as case
  when typeof(x) not in ('VARCHAR', 'JSON') then to_json(x)::varchar
  when json_valid(x::varchar) then x::varchar
end
