-- A whole number within bounds. A text must be plain digits; 1.5 is not rounded but refused.
create macro if not exists as_integer(x, lowest, highest) as case
  when not try_cast(x as bigint) between lowest and highest then null
  when typeof(x) in ('BIGINT', 'INTEGER', 'SMALLINT', 'TINYINT') then try_cast(x as bigint)
  when typeof(x) = 'VARCHAR' and not regexp_full_match(x::varchar, '[+-]?\d{1,18}(\.0*)?') then null
  when try_cast(x as bigint) = try_cast(x as double) then try_cast(x as bigint)
end
