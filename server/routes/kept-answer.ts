import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { KnownCatalog } from '../catalog/known.ts';
import type { Project } from '../catalog/projects.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { type AnswerCache, sendBytes } from '../http/answer-cache.ts';
import { type Encoding, encode, wantedEncoding } from '../http/compression.ts';
import { findPathProject } from '../http/guard.ts';

/** How an answer that is kept is identified and made. */
interface Question {
  readonly operation: string;
  /** What the question comes to; throws where it is none. It depends on the project, the address and the day only. */
  readonly question: (project: Project) => object;
  /** Makes the answer, reading the catalog itself: either JSON bytes, or what becomes them. */
  readonly make: (signal: AbortSignal) => Promise<object | Buffer>;
}

interface KnownAddress {
  readonly project: Project;
  readonly hour: number;
  readonly key: CacheKey;
}

/** Characters of addresses, and of what they came to, that are remembered in all; and of one address. */
const MOST_CHARACTERS = 8_000_000;
const LONGEST_ADDRESS = 500;
/** Milliseconds. Days begin with an hour, in any time zone that matters here. */
const HOUR = 3_600_000;

/** Answers that are kept, by what was asked and by the project's revisions. */
export class KeptAnswers {
  readonly #known: KnownCatalog;
  readonly #answers: AnswerCache;
  readonly #now: () => number;
  /** What addresses came to, so that those that are asked over and over are not read each time. */
  readonly #addresses = new LRUCache<CacheKey, KnownAddress>({
    maxSize: MOST_CHARACTERS,
    sizeCalculation: ({ key }, address) => key.length + address.length,
  });

  constructor(known: KnownCatalog, answers: AnswerCache, now: () => number) {
    this.#known = known;
    this.#answers = answers;
    this.#now = now;
  }

  /** Answers from the kept answers, at once, or makes the answer and keeps it, encoded as the client wants it. */
  send(request: FastifyRequest, reply: FastifyReply, question: Question): Promise<FastifyReply> | undefined {
    const encoding = wantedEncoding(request);
    const key = this.#keyOf(request, encoding, findPathProject(this.#known, request), question);
    const kept = this.#answers.kept(key);
    if (kept === undefined) return this.#make(request, reply, key, encoding, question);
    sendBytes(reply, kept);
    return undefined;
  }

  async #make(
    { signal }: FastifyRequest,
    reply: FastifyReply,
    key: CacheKey,
    encoding: Encoding,
    { make }: Question,
  ): Promise<FastifyReply> {
    const answer = await this.#answers.make(key, signal, async (stop) => {
      const made = await make(stop);
      return encode(Buffer.isBuffer(made) ? made : Buffer.from(JSON.stringify(made)), encoding);
    });
    return sendBytes(reply, answer);
  }

  #keyOf({ url }: FastifyRequest, encoding: Encoding, project: Project, { operation, question }: Question): CacheKey {
    const { workspaceId, id, factsRevision, entitiesRevision } = project;
    const hour = Math.floor(this.#now() / HOUR);
    const address = cacheKey(workspaceId, encoding, url);
    const known = this.#addresses.get(address);
    // The project is the same object for as long as nobody changes the catalog.
    if (known?.project === project && known.hour === hour) return known.key;
    const key = cacheKey(operation, workspaceId, id, factsRevision, entitiesRevision, encoding, question(project));
    if (address.length <= LONGEST_ADDRESS) this.#addresses.set(address, { project, hour, key });
    return key;
  }
}
