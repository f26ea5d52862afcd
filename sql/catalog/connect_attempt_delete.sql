-- Uses up an attempt to connect an account. $stateHash.
delete from connect_attempts where state_hash = $stateHash
