-- A file is not removed while a sequence reads it.
create index if not exists page_sequences_by_file on page_sequences (file, at)
