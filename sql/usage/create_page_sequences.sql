-- The list that a reader's next page comes from: pages of one sequence never mix two lists. `sequence` identifies the
-- reader's query; `list` is the stored list as JSON; `at` is when the previous page was served (microseconds).
create table if not exists page_sequences (
  reader text not null,
  sequence text not null,
  next_offset integer not null,
  file text not null,
  list text not null,
  at integer not null,
  primary key (reader, sequence, next_offset)
) strict, without rowid
