-- The notes whose verdicts the digests of a channel have listed. $channel, $event.
select note_id as note from digest_verdicts where channel_id = $channel and event = $event
