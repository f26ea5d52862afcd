-- Dismisses a finding, or once more what was found now. $id, $project, $type, $kind, $row, $country, $days, $through, $clicks,
-- $low, $high, $pages, $author; $at: microseconds.
insert into dismissed_findings (id, project_id, type, row_kind, row_text, country, days, through, gain_clicks, gain_low,
  gain_high, pages, author, dismissed_at)
values ($id, $project, $type, $kind, $row, $country, $days, $through, $clicks, $low, $high, $pages, $author, $at)
on conflict (id) do update set days = excluded.days, through = excluded.through, gain_clicks = excluded.gain_clicks,
  gain_low = excluded.gain_low, gain_high = excluded.gain_high, pages = excluded.pages, author = excluded.author,
  dismissed_at = excluded.dismissed_at
