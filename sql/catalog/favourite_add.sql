-- Marks a project for a member. $project, $email.
insert into favourites (project_id, email) values ($project, $email)
on conflict (project_id, email) do nothing
