-- Notes that a digest has listed the verdict on a change. $channel, $event, $note.
insert into digest_verdicts (channel_id, event, note_id) values ($channel, $event, $note)
on conflict (channel_id, event, note_id) do nothing
