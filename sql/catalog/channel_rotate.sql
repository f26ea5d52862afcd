-- Replaces the secret of a channel. $id; $secret, $oldSecret: encrypted; $until: microseconds.
update channels set secret = $secret, old_secret = $oldSecret, old_secret_until = $until where id = $id
