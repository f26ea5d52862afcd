-- Removes the mark of a member. $project, $email.
delete from favourites where project_id = $project and email = $email
