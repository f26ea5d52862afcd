-- An instant in UTC, as microseconds since 1970.
create macro if not exists to_instant(x) as case
  when try_cast(x as timestamptz) between timestamptz '1900-01-01 00:00:00+00' and timestamptz '2199-12-31 23:59:59+00'
  then epoch_us(try_cast(x as timestamptz))
end
