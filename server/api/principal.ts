/** The authenticated identity of a request. */
interface Principal {
  readonly workspace: string;
  readonly plan: string;
  /** `feed`: the address of a feed of the key. */
  readonly via: 'key' | 'feed';
  readonly keyId: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the key has been checked. */
    principal: Principal | null;
  }
}
