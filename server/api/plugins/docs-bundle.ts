// A worker thread that returns the script of the documentation page. The package bundles it in a module that takes 40 MB
// and a third of a second to load, which the server avoids.
import { parentPort } from 'node:worker_threads';
import reference from '@scalar/fastify-api-reference';
import fastify from 'fastify';

const app = fastify();
await app.register(reference, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
const { rawPayload } = await app.inject('/docs/js/scalar.js');
await app.close();
parentPort?.postMessage(rawPayload);
