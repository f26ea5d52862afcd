-- True or false.
create macro if not exists to_flag(x) as case
  when lower(x::varchar) in ('true', 't', '1') then true
  when lower(x::varchar) in ('false', 'f', '0') then false
end
