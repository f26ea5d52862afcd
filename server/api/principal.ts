/** The authenticated identity of a request. */
export interface Principal {
  readonly workspace: string;
  readonly plan: string;
  /** `feed`: the address of a feed of the key; `session`: a session of the dashboard. */
  readonly via: 'key' | 'feed' | 'session';
  /** What rate limits count by: the id of the key, or of a session without a key. */
  readonly id: string;
  readonly keyId: string | null;
  /** Email address of the owner who signed in; null for read-only access. */
  readonly owner: string | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the key has been checked. */
    principal: Principal | null;
  }
}
