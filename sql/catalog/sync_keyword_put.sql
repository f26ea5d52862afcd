-- Stores for which days a keyword has been fetched. $project, $id, $query, $from, $to.
insert into sync_keywords (project_id, keyword_id, query, first_day, last_day) values ($project, $id, $query, $from, $to)
on conflict (project_id, keyword_id) do update set query = excluded.query, first_day = excluded.first_day,
  last_day = excluded.last_day
