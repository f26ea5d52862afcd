-- Verdicts on noted changes that the digests of a channel have listed, each once. `event`: which of its digests.
create table digest_verdicts (
  channel_id text not null references channels (id) on delete cascade,
  event text not null,
  note_id text not null,
  primary key (channel_id, event, note_id)
) strict, without rowid;
