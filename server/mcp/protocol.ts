// The imports from the MCP package. `npm run build` bundles them, because the package is a development dependency.
export { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
