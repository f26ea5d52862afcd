-- Ends all sessions of the dashboard.
delete from sessions
