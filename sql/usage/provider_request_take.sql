-- Notes a request to a provider, if the limits allow it. $owner: what it is about; $at: now, in milliseconds;
-- $perMinute: the most in any 60 seconds, in all; $perSecond: the most in any second, of the owner.
insert into provider_requests (owner, at)
select $owner, $at
where (select count(*) from provider_requests where at > $at - 60000) < $perMinute
  and (select count(*) from provider_requests where at > $at - 1000 and owner = $owner) < $perSecond
