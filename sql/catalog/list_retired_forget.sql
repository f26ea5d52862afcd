-- Forgets a file that was removed. $file.
delete from retired_lists where file = $file
