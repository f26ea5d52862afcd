-- Removes files that a rebuild made current again from the retired ones.
delete from retired_files where file in (select file from fact_files)
