// The tool on the SDK server that we use, on stdio or, for `mcp-pipe.mjs`, on any stream: our server without the switchboard.
import { fileURLToPath } from 'node:url';
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { tools } from './mcp-tool.mjs';

export function serve(transport) {
  serveStdio(
    () => {
      const server = new McpServer({ name: 'echo', version: '1.0.0' });
      for (const { name, description, inputSchema, run } of tools)
        server.registerTool(name, { description, inputSchema: fromJsonSchema(inputSchema) }, async (args) => ({
          content: [{ type: 'text', text: run(args) }],
        }));
      return server;
    },
    { transport },
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) serve(new StdioServerTransport());
