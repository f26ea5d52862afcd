-- Deletes the record of a retired file after its removal. $file.
delete from retired_lists where file = $file
