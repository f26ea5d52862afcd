import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { KnownCatalog } from '../catalog/known.ts';
import type { Project } from '../catalog/projects.ts';
import { type AnswerCache, sendBytes } from '../http/answer-cache.ts';
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
  readonly key: string;
}

const MOST_ADDRESSES = 10_000;
/** Milliseconds. Days begin with an hour, in any time zone that matters here. */
const HOUR = 3_600_000;

/** Answers that are kept, by what was asked and by the project's revision. */
export class KeptAnswers {
  readonly #known: KnownCatalog;
  readonly #answers: AnswerCache;
  readonly #now: () => number;
  /** What addresses came to, so that those that are asked over and over are not read each time. */
  readonly #addresses = new LRUCache<string, KnownAddress>({ max: MOST_ADDRESSES });

  constructor(known: KnownCatalog, answers: AnswerCache, now: () => number) {
    this.#known = known;
    this.#answers = answers;
    this.#now = now;
  }

  /** Answers from the kept answers, at once, or makes the answer and keeps it. */
  send(request: FastifyRequest, reply: FastifyReply, question: Question): Promise<FastifyReply> | undefined {
    const key = this.#keyOf(request, findPathProject(this.#known, request), question);
    const kept = this.#answers.kept(key);
    if (kept === undefined) return this.#make(request, reply, key, question);
    sendBytes(reply, kept);
    return undefined;
  }

  async #make(request: FastifyRequest, reply: FastifyReply, key: string, { make }: Question): Promise<FastifyReply> {
    const bytes = await this.#answers.make(key, request.signal, async (signal) => {
      const answer = await make(signal);
      return Buffer.isBuffer(answer) ? answer : Buffer.from(JSON.stringify(answer));
    });
    return sendBytes(reply, bytes);
  }

  #keyOf({ url }: FastifyRequest, project: Project, { operation, question }: Question): string {
    const { workspaceId, id, revision } = project;
    const hour = Math.floor(this.#now() / HOUR);
    const address = `${workspaceId} ${url}`;
    const known = this.#addresses.get(address);
    // The project is the same object for as long as nobody changes the catalog.
    if (known?.project === project && known.hour === hour) return known.key;
    const key = `${operation} ${workspaceId} ${id} ${revision} ${JSON.stringify(question(project))}`;
    this.#addresses.set(address, { project, hour, key });
    return key;
  }
}
