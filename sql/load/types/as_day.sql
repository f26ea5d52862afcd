-- A calendar day. A time of day other than midnight is refused, not cut off.
create temp macro as_day(x) as case
  when typeof(x) = 'DATE' then
    case when try_cast(x as date) between date '1000-01-01' and date '9999-12-31' then try_cast(x as date) end
  when typeof(x) = 'VARCHAR'
    and not regexp_full_match(x::varchar, '\d{4}-\d{2}-\d{2}([T ]00:00(:00(\.0+)?)?Z?)?') then null
  when try_cast(x as timestamp) = date_trunc('day', try_cast(x as timestamp))
    and try_cast(x as date) between date '1000-01-01' and date '9999-12-31' then try_cast(x as date)
end
