import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

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
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body });
      const answer = receiver.answers.length > 1 ? receiver.answers.shift()! : receiver.answers[0]!;
      if (typeof answer === 'number') response.writeHead(answer).end();
      else answer(response);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return receiver;
}
