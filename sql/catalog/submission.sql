-- What a form has created. $hash.
select request, result from submissions where hash = $hash
