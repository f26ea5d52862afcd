/** An answer that is not the one asked for. `hang` never ends; `reset` ends the connection. */
export type Failure =
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | 'hang'
  | 'reset'
  | 'drip'
  /** An answer without end, as it is or compressed. */
  | 'flood'
  | 'bomb';

function document(
  code: number,
  reason: string,
  message: string,
  domain = 'global',
  status?: string,
): Exclude<Failure, string> {
  const error = { code, message, errors: [{ message, domain, reason }], ...(status ? { status } : {}) };
  return { status: code, body: { error } };
}

const PAGE = '<!DOCTYPE html><title>Error</title><h1>Server Error</h1><p>That is all we know.</p>';
const QUOTA = 'Search Analytics load quota exceeded.';
const DISABLED =
  'Google Search Console API has not been used in project 123456 before or it is disabled. Enable it by visiting its page.';

/** Every way in which the API and its token endpoint have been seen to fail, by name. */
export const FAILURES = {
  forbidden: document(403, 'forbidden', "User does not have sufficient permission for site 'sc-domain:shop.example'."),
  insufficientPermissions: document(403, 'insufficientPermissions', 'Request had insufficient authentication scopes.'),
  notFound: document(
    404,
    'notFound',
    "'sc-domain:shop.example' is not a verified Search Console site in this account.",
  ),
  unauthorized: document(401, 'authError', 'Invalid Credentials'),
  loadQuota: document(403, 'quotaExceeded', QUOTA, 'usageLimits'),
  rateQuota: document(403, 'rateLimitExceeded', 'Rate Limit Exceeded', 'usageLimits'),
  tooMany: document(429, 'rateLimitExceeded', 'Too many requests', 'usageLimits', 'RESOURCE_EXHAUSTED'),
  tooManyPlain: { status: 429, body: 'slow down' },
  tooManyForLong: {
    status: 429,
    body: { error: { code: 429, message: 'Too many requests', status: 'RESOURCE_EXHAUSTED' } },
    headers: { 'retry-after': '600' },
  },
  quotaInDetails: {
    status: 403,
    body: {
      error: {
        code: 403,
        message: 'Too much.',
        status: 'PERMISSION_DENIED',
        details: [{ reason: 'RATE_LIMIT_EXCEEDED', domain: 'googleapis.com' }],
      },
    },
  },
  quotaInWords: document(403, 'forbidden', "Quota exceeded for quota metric 'Queries'."),
  quotaAs429: document(429, 'quotaExceeded', QUOTA, 'usageLimits'),
  disabled: document(403, 'accessNotConfigured', DISABLED, 'usageLimits', 'PERMISSION_DENIED'),
  pageFor403: { status: 403, body: PAGE },
  pageFor404: { status: 404, body: PAGE },
  badRequest: document(400, 'badRequest', 'Bad Request'),
  serverError: document(500, 'backendError', 'Internal error encountered.'),
  pageFor502: { status: 502, body: PAGE },
  unavailable: document(503, 'backendError', 'The service is currently unavailable.'),
  pageFor200: { status: 200, body: PAGE },
  brokenJson: { status: 200, body: '{"rows":[{"keys":["a"],"clicks":1' },
  emptyBody: { status: 200, body: '' },
  rowWithoutKey: { status: 200, body: { rows: [{ clicks: 1, impressions: 2, ctr: 0.5, position: 1 }] } },
  reset: 'reset',
  hang: 'hang',
  drip: 'drip',
  flood: 'flood',
  bomb: 'bomb',
} as const satisfies Record<string, Failure>;

/** Failures of the token endpoint. */
export const TOKEN_FAILURES = {
  expiredGrant: {
    status: 400,
    body: { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' },
  },
  wrongClient: { status: 401, body: { error: 'invalid_client', error_description: 'The OAuth client was not found.' } },
  tokenServerError: { status: 500, body: PAGE },
  tokenReset: 'reset',
  tokenHang: 'hang',
} as const satisfies Record<string, Failure>;
