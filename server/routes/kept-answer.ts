import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Project } from '../catalog/projects.ts';
import { sendBytes } from '../http/answer-cache.ts';
import { findPathProject } from '../http/guard.ts';
import type { Context } from './context.ts';

/** How an answer that is kept is identified and made. */
interface KeptAnswer {
  readonly operation: string;
  /** What the question comes to; throws where it is none. */
  readonly question: (project: Project) => object;
  /** Makes the answer, reading the catalog itself: either JSON bytes, or what becomes them. */
  readonly make: (signal: AbortSignal) => Promise<object | Buffer>;
}

/** Answers from the kept answers, or makes the answer and keeps it: by question and by the project's revision. */
export async function sendKept(
  { known, answers }: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { operation, question, make }: KeptAnswer,
): Promise<FastifyReply> {
  const project = findPathProject(known, request);
  const key = `${operation} ${project.workspaceId} ${project.id} ${project.revision} ${JSON.stringify(question(project))}`;
  const bytes = await answers.get(key, request.signal, async (signal) => {
    const answer = await make(signal);
    return Buffer.isBuffer(answer) ? answer : Buffer.from(JSON.stringify(answer));
  });
  return sendBytes(reply, bytes);
}
