-- The kinds of connections, the options that each takes, and the sources of lists are known to providers, not to the catalog.
alter table connections drop constraint connections_kind_check, drop constraint connections_check;
alter table provider_pauses drop constraint provider_pauses_kind_check;
alter table lists drop constraint lists_source_check;
