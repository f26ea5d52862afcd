import type { FastifyInstance } from 'fastify';
import { invalidRequest, notFound } from '../../domain/errors.ts';
import { sendError } from './errors.ts';

/** What holds for every request to the server, whatever it is about: bodies, errors, and headers. */
export function addHttpBasics(app: FastifyInstance): void {
  // JSON.stringify and not a serializer made from the schema: that one is slower on long lists and writes what the
  // schema does not expect as zeros. Tests check that answers are what the schemas say.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  app.setValidatorCompiler(() => () => true);
  // Nothing reads bodies: whatever comes with a request is dropped.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    done(null);
  });
  app.setErrorHandler(sendError);
  app.setNotFoundHandler(() => {
    throw notFound('There is nothing at this address; the documentation is at /docs.');
  });
  app.addHook('onRequest', (request, _reply, done) => {
    const isMissing = request.raw.httpVersion === '1.1' && request.headers.host === undefined;
    done(isMissing ? invalidRequest('The request has no Host header.') : undefined);
  });
  // Clients that keep their connections must not hold up a server that stops.
  let isClosing = false;
  app.addHook('preClose', (done) => {
    isClosing = true;
    done();
  });
  app.addHook('onSend', (_request, reply, _answer, done) => {
    // Also where nothing is compressed: the same address may be another time.
    reply.vary('accept-encoding');
    if (isClosing) reply.header('connection', 'close');
    done();
  });
  // Expectations that are not known are ignored, as unknown headers are.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
}
