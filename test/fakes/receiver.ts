import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';
import { serve } from './serve.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What a receiver answers: a status, or whatever it does with the response; nothing if that is nothing. */
type Answer = number | ((response: ServerResponse) => void);

/** A receiver of webhooks on this machine. */
export interface Receiver {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly received: Received[];
  /** Answers in order; the last one stays. */
  answers: Answer[];
}

export async function startReceiver(t: Test): Promise<Receiver> {
  const received: Received[] = [];
  const receiver = { origin: '', received, answers: [204] as Answer[] };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    received.push({ path: request.url ?? '', headers: request.headers, body });
    const answer = receiver.answers.length > 1 ? receiver.answers.shift()! : receiver.answers[0]!;
    if (typeof answer === 'number') response.writeHead(answer).end();
    else answer(response);
  };
  // Clients that leave within their request are not told anything.
  const origin = await serve(t, (request, response) => void answer(request, response).catch(() => {}));
  return Object.assign(receiver, { origin });
}
