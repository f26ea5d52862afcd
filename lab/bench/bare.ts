// The baseline for every answer: a Fastify route without plugins that sends the bytes of a file.
// Arguments: the file.
import { readFileSync } from 'node:fs';
import fastify from 'fastify';

const bytes = readFileSync(process.argv[2]!);
const app = fastify();
app.get('/', (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes));
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
