import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

/** Answers requests on a port of this machine, until the test ends; returns its origin. */
export async function serve(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
