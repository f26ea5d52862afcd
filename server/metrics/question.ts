/** The question with which a server requests the metrics of its other processes. */
export const METRICS_QUESTION = 'metrics';
