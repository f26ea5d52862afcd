-- When each stored list was last read (microseconds), and how often.
create table if not exists list_uses (
  file text primary key,
  used_at integer not null,
  hits integer not null
) strict, without rowid
