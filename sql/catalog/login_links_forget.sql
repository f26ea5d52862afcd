-- Forgets a link that is used, and those that have expired. $hash: SHA-256 of its secret, hexadecimal; $at: microseconds.
delete from login_links where hash = $hash or expires_at <= $at
