-- Claims a delivery for a sender. $id, $claim; $until: microseconds; $body: as it is sent.
update deliveries set claim = $claim, claimed_until = $until, body = $body where id = $id
