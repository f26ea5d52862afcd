-- Ends a session. $hash: SHA-256 of its secret, hexadecimal.
delete from sessions where hash = $hash
