-- Reads all of a file. $file: a Parquet file.
select cast(bit_xor(hash(f)) as varchar) as hash from read_parquet($file) f
