-- An instant in UTC until the end of the last day that facts can be about, as microseconds since 1970. Needs `last_fact_day`.
create macro if not exists to_past_instant(x) as case
  when to_instant(x) < epoch_us(getvariable('last_fact_day')::timestamp + interval 1 day) then to_instant(x)
end
