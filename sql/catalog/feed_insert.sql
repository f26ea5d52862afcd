-- Stores a new feed. $id, $keyId; $hash: SHA-256 of its token, hexadecimal; $path: below the API's root; $at: microseconds.
insert into feeds (id, key_id, hash, path, created_at) values ($id, $keyId, $hash, $path, $at)
