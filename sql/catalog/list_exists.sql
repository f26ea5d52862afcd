-- Is this file a kept list? $file.
select 1 as kept from lists where file = $file
