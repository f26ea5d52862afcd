-- Writes facts of one part, like stage_facts.sql, in half of its time. $target: the file to write.
copy (select * exclude (wrong) from ({rows})) to $target (format parquet, compression uncompressed, dictionary_size_limit 40)
