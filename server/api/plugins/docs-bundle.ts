// A worker thread: hands out the script that shows the documentation, and ends. The package has it inside a module that
// takes some 40 MB and a third of a second to load; neither is to burden the server.
import { parentPort } from 'node:worker_threads';
import reference from '@scalar/fastify-api-reference';
import fastify from 'fastify';

const app = fastify();
await app.register(reference, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
const { rawPayload } = await app.inject('/docs/js/scalar.js');
await app.close();
parentPort?.postMessage(rawPayload);
