/** Requests that a key may send, by default. */
export const REQUESTS_PER_MINUTE = 120;
/** Of a session of the dashboard, whose screens send several: more than somebody who clicks once a second needs. */
export const SESSION_REQUESTS_PER_MINUTE = 600;
/** Requests for files, or parts of them, that a key may send per other request. */
export const FILES_PER_REQUEST = 20;
/** Requests without a valid key that an address may send. */
export const FAILURES_PER_MINUTE = 30;
