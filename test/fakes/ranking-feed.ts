import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Test } from 'tap';
import { serve } from './serve.ts';

/** An incident as the status dashboard has it; fields that nobody needs are left out, or of any kind. */
export type Incident = Readonly<Record<string, unknown>>;

/** What answers in place of the incidents. */
type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface FakeRankingFeed {
  readonly url: string;
  incidents: unknown;
  answer: Answer | undefined;
  requests: number;
}

const PRODUCT = { title: 'Ranking', id: 'rGHU1u87FJnkP6W2GwMi' };
const PLACES: readonly string[] = [];

/** An incident of ranking. Instants are as the dashboard writes them; `end` is left out while it goes on. */
export function ranked(id: string, title: string, begin: string, end?: string): Incident {
  const text = { created: begin, modified: begin, when: begin, text: `Released the ${title}.`, status: 'AVAILABLE' };
  const news = { ...text, affected_locations: PLACES };
  return {
    ...{ id, number: '17', begin, created: begin, modified: end ?? begin, ...(end && { end }), external_desc: title },
    ...{ updates: [news], most_recent_update: news, status_impact: 'SERVICE_INFORMATION', severity: 'low' },
    ...{ service_key: PRODUCT.id, service_name: 'Ranking', affected_products: [PRODUCT], uri: `incidents/${id}` },
    ...{ currently_affected_locations: PLACES, previously_affected_locations: PLACES },
  };
}

/** The incident feed of the status dashboard, over real HTTP. */
export async function rankingFeed(t: Test, incidents: unknown): Promise<FakeRankingFeed> {
  const origin = await serve(t, (request, response) => {
    feed.requests++;
    if (feed.answer) return feed.answer(request, response);
    const text = typeof feed.incidents === 'string' ? feed.incidents : JSON.stringify(feed.incidents);
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  });
  const feed: FakeRankingFeed = { url: `${origin}/incidents.json`, incidents, answer: undefined, requests: 0 };
  return feed;
}
