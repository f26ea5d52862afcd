-- Verdicts on noted changes that the digests of a channel have listed, each once. `event`: which of its digests.
create table digest_verdicts (
  channel_id text collate "C" not null references channels (id) on delete cascade,
  event text collate "C" not null,
  note_id text collate "C" not null,
  primary key (channel_id, event, note_id)
);
