import { type AddressInfo, createServer } from 'node:net';

/** A port that nothing listens on, for an address that must be known before the server starts. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((done) => void server.close(() => done()));
  return port;
}
