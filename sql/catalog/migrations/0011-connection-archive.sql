-- What a connection keeps of all queries and pages beside the tracked keywords; and why a property is left alone, with
-- the Pacific day of its last refusal over load, since the second one of a day is told from the first.

alter table connections add column archive text not null default 'queries,pages'
  check (archive in ('queries,pages', 'queries', 'pages', 'none'));
alter table provider_pauses add column reason text not null default 'load-quota'
  check (reason in ('load-quota', 'rate-limit', 'broken'));
alter table provider_pauses add column load_refused_on text;
