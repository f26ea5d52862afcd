-- Changes a channel. $id, $name, $events, $types, $minSeverity, $state.
update channels set name = $name, events = $events, types = $types, min_severity = $minSeverity, state = $state
where id = $id
