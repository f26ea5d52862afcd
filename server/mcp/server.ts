import type { CallToolResult, McpHttpHandler, McpServer } from '@modelcontextprotocol/server';
import { requireAccess } from '../api/principal.ts';
import type { KnownError } from '../domain/errors.ts';
import { argumentsSchema, readArguments } from './arguments.ts';
import type { Call, Tool } from './tool.ts';
import { TOOLS } from './tools.ts';

const INSTRUCTIONS = `Read-only search performance of web sites: clicks, impressions, ctr and average position.
Start with list_projects. For why clicks rose or fell, ask explain_change. Ranges are from and to (both included), or a period such as 28d or 16m that ends at to; without
them the last 28 days with data. Every answer says which days it is about, how many rows there are (total) and how many it
has (returned), which days may still change (quality), and which changes of the search engine's own counting lie in the range
(events): do not explain those by the site. ctr and position are averages and must not be added up. A low position is good.`;

/** The context that the server of a request gets. */
export interface McpRequest extends Call {
  /** Logs an error and returns the one for the client. */
  readonly toKnown: (error: unknown) => KnownError;
}

/**
 * The handler of all requests. Each gets its own server, because each has its own key; no state is kept between them.
 * The package is imported on the first request.
 */
export async function makeHandler(onError: (error: Error) => void): Promise<McpHttpHandler> {
  const { createMcpHandler, fromJsonSchema, McpServer: Server } = await import('./protocol.ts');
  // Arguments are validated by `readArguments` and by presets, whose messages name the valid values.
  const unchecked: Parameters<typeof fromJsonSchema>[1] = {
    getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
  };
  const tools = TOOLS.map((tool) => ({
    tool,
    config: {
      title: tool.title,
      description: tool.description,
      inputSchema: fromJsonSchema<Readonly<Record<string, unknown>>>(
        argumentsSchema(tool.parameters, tool.required),
        unchecked,
      ),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
  }));
  const serve = ({ authInfo }: { authInfo?: { extra?: Record<string, unknown> } }): McpServer => {
    const request = authInfo?.extra?.['request'] as McpRequest;
    const server = new Server(
      { name: 'ordinate', title: 'Ordinate', version: '1' },
      { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: false } } },
    );
    for (const { tool, config } of tools) {
      server.registerTool(tool.name, config, (given) => answer(tool, given, request));
    }
    return server;
  };
  // The tools never change, so subscriptions to changes are disabled.
  return createMcpHandler(serve, { responseMode: 'json', maxSubscriptions: 0, onerror: onError });
}

/** The result of a call as JSON, also for an error, so that the agent can read how to correct it. */
async function answer(
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  request: McpRequest,
): Promise<CallToolResult> {
  try {
    const sent = readArguments(tool.name, given, tool.parameters, tool.required);
    if (sent['project'] !== undefined) requireAccess(request, sent['project']);
    return textResult(await tool.run(sent, request));
  } catch (error) {
    const { code, message } = request.toKnown(error);
    return { ...textResult({ error: { code, message } }), isError: true };
  }
}

function textResult(value: object): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }] };
}
