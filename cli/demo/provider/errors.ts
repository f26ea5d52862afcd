/** An error answer of the API. */
export class ApiError extends Error {
  readonly status: number;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    reason: string,
    message: string,
    more: { domain?: string; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    const { domain = 'global', headers = {} } = more;
    this.status = status;
    this.body = { error: { code: status, message, errors: [{ message, domain, reason }] } };
    this.headers = headers;
  }
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, 'badRequest', message);
}

export function forbidden(property: string): ApiError {
  return new ApiError(403, 'forbidden', `User does not have sufficient permission for site '${property}'.`);
}

export function notOfProperty(): ApiError {
  const message = 'You do not own this site, or the inspected URL is not part of this property.';
  return new ApiError(403, 'forbidden', message);
}

export function notFound(property: string): ApiError {
  return new ApiError(404, 'notFound', `'${property}' is not a verified Search Console site in this account.`);
}

export function unauthorized(): ApiError {
  return new ApiError(401, 'authError', 'Invalid Credentials');
}
