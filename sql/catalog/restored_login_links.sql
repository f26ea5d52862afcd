-- Forgets all one-time links.
delete from login_links
