-- Records a request to a provider, if the rate limits allow it. $owner: its provider and property; $at: now, in
-- milliseconds; $perMinute: max in any 60 seconds, in total; $perSecond: max in any second, of the owner.
insert into provider_requests (owner, at)
select $owner, $at
where (select count(*) from provider_requests where at > $at - 60000) < $perMinute
  and (select count(*) from provider_requests where at > $at - 1000 and owner = $owner) < $perSecond
