/** What a server asks its other processes for: their metrics. */
export const METRICS_QUESTION = 'metrics';
