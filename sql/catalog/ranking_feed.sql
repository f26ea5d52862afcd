-- The last day that the search engine's feed was complete for when it was read last. No row if it never was.
select through from ranking_feed
