-- A number with two decimals that is not negative, whose hundredths JSON numbers carry exactly. More decimals are not rounded
-- but refused.
create macro if not exists to_amount(x) as case
  when try_cast(x as decimal(38, 8)) = try_cast(x as decimal(18, 2))
    and try_cast(x as decimal(18, 2)) between 0 and 90071992547409.91
  then try_cast(x as decimal(18, 2))
end
