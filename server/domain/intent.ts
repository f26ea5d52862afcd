export const INTENTS = ['informational', 'commercial', 'transactional', 'navigational', 'unclassified'] as const;
export type Intent = (typeof INTENTS)[number];

/** The first match wins: words about buying are a clearer signal than words about information. */
const PATTERNS: readonly (readonly [Intent, RegExp])[] = [
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

/** Estimates what a searcher wants from the words of the query alone (English only). */
export function estimateIntent(query: string): Intent {
  const text = query.toLowerCase();
  return PATTERNS.find(([, pattern]) => pattern.test(text))?.[0] ?? 'unclassified';
}
