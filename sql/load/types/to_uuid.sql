-- A UUID in its usual notation.
create macro if not exists to_uuid(x) as try_cast(x::varchar as uuid)::varchar
