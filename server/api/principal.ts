/** The authenticated identity of a request. */
interface Principal {
  readonly workspace: string;
  readonly plan: string;
  readonly via: 'key';
  readonly keyId: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the key has been checked. */
    principal: Principal | null;
  }
}
