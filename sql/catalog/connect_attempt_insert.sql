-- Adds an attempt to connect an account. $stateHash, $cookieHash, $sessionHash: SHA-256, hexadecimal; $verifier: encrypted;
-- $expiresAt: microseconds.
insert into connect_attempts (state_hash, cookie_hash, session_hash, verifier, expires_at)
values ($stateHash, $cookieHash, $sessionHash, $verifier, $expiresAt)
