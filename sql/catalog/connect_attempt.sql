-- An attempt to connect an account. $stateHash: SHA-256 of its state, hexadecimal.
select cookie_hash as cookieHash, session_hash as sessionHash, verifier, expires_at as expiresAt
from connect_attempts
where state_hash = $stateHash
