-- Attempts to connect an account, until the provider sends the browser back.

-- name: one
-- An attempt to connect an account. $stateHash: SHA-256 of its state, hexadecimal.
-- rows: cookieHash text, sessionHash text, verifier text, expiresAt integer
select cookie_hash as cookieHash, session_hash as sessionHash, verifier, expires_at as expiresAt
from connect_attempts
where state_hash = $stateHash

-- name: add
-- Adds an attempt to connect an account. $stateHash, $cookieHash, $sessionHash: SHA-256, hexadecimal; $verifier: encrypted;
-- $expiresAt: microseconds.
insert into connect_attempts (state_hash, cookie_hash, session_hash, verifier, expires_at)
values ($stateHash, $cookieHash, $sessionHash, $verifier, $expiresAt)

-- name: remove
-- Uses up an attempt to connect an account. $stateHash.
delete from connect_attempts where state_hash = $stateHash

-- name: forget
-- Deletes attempts that have ended. $at: microseconds.
delete from connect_attempts where expires_at <= $at
