export const INTENTS = ['informational', 'commercial', 'transactional', 'navigational', 'unclassified'] as const;
export type Intent = (typeof INTENTS)[number];

/** First match wins: who wants to buy says so more plainly than who wants to know. */
const SIGNS: readonly (readonly [Intent, RegExp])[] = [
  [
    'navigational',
    /\b(log ?in|sign ?in|sign ?up|my account|account|official|website|homepage|customer service|app)\b|\.(com|org|net|io|example)\b/u,
  ],
  [
    'transactional',
    /\b(buy|order|price|prices|pricing|cost|cheap|coupon|discount|deals?|sale|for sale|shop|store|hire|rent|rental|book|booking|subscribe|download|delivery|near me)\b/u,
  ],
  [
    'commercial',
    /\b(best|top|reviews?|vs|versus|compare|comparison|alternatives?|which|cheapest|recommended|ranking|test)\b/u,
  ],
  [
    'informational',
    /\b(how|what|why|when|where|who|is|are|can|does|do|should|guide|tutorial|tips|ideas|examples?|meaning|definition|recipes?|learn|explained|checklist|difference|instructions)\b/u,
  ],
];

/** An estimate of what a searcher wants, from the words of the query alone (English signs). */
export function estimateIntent(query: string): Intent {
  const text = query.toLowerCase();
  return SIGNS.find(([, sign]) => sign.test(text))?.[0] ?? 'unclassified';
}
