-- Stores the end of an attempt, or of a delivery. $id, $state, $attempts, $nextAt, $status, $answer, $sentAt, $endedAt.
update deliveries set state = $state, attempts = $attempts, next_at = $nextAt, claim = null, claimed_until = null,
  status = $status, answer = $answer, sent_at = $sentAt, ended_at = $endedAt
where id = $id
