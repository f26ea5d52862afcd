-- Keeps a claim for longer. $id, $claim; $until: microseconds.
update deliveries set claimed_until = $until where id = $id and claim = $claim
