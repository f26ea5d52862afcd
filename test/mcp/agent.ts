import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Test } from 'tap';

/** The official client package, over HTTP. */
export async function connectAgent(t: Test, address: URL, headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(address, { requestInit: { headers } });
  await client.connect(transport);
  t.teardown(() => client.close());
  return client;
}

interface Called {
  readonly isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: answers are picked from
  readonly body: any;
}

export async function callTool(client: Client, name: string, given: Record<string, unknown> = {}): Promise<Called> {
  const { content, isError = false } = await client.callTool({ name, arguments: given });
  const [first] = content as { type: string; text: string }[];
  return { isError, body: JSON.parse(first!.text) as unknown };
}
