/** Who a request speaks for, and by what right. */
export interface Principal {
  readonly workspace: string;
  readonly plan: string;
  /** An API key, or a session of the dashboard, which may belong to a key. */
  readonly via: 'key' | 'session';
  /** Whose requests are counted together: the id of the key, or of a session that belongs to none. */
  readonly id: string;
  readonly keyId: string | null;
  /** The email address of the owner whose session it is; null for whoever only reads. */
  readonly owner: string | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the key or session has been checked. */
    principal: Principal | null;
  }
}
