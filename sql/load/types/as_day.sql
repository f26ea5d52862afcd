-- A calendar day within bounds. A time of day other than midnight is refused, not cut off. Each cast is written as seldom as
-- possible: DuckDB takes longer to understand an expression than to work it out for some rows.
create macro if not exists as_day(x, lowest, highest) as case
  when not try_cast(x as date) between lowest and highest then null
  when typeof(x) = 'DATE' then try_cast(x as date)
  when typeof(x) = 'VARCHAR'
    and not regexp_full_match(x::varchar, '\d{4}-\d{2}-\d{2}([T ]00:00(:00(\.0+)?)?Z?)?') then null
  when try_cast(x as timestamp) = date_trunc('day', try_cast(x as timestamp)) then try_cast(x as date)
end
