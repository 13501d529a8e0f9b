// MCP servers of a page: HTTP and SSE servers of a form, with headers as a table or as a list. Programs only where they are allowed.
import * as z from 'zod';
import type { ParamsOf } from '../client/acp-methods.ts';
import { refusals } from './refusal.ts';

const pairs = z.union([z.record(z.string(), z.string()), z.array(z.object({ name: z.string(), value: z.string() }))]).default([]);

export const mcpServers = z
  .array(
    z.union([
      z.object({
        type: z.enum(['http', 'sse']).default('http'),
        name: z.string().min(1).optional(),
        url: z.url({ protocol: /^https?$/ }),
        headers: pairs,
      }),
      z.object({ name: z.string().min(1), command: z.string().min(1), args: z.array(z.string()).default([]), env: pairs }),
    ]),
  )
  .default([]);

export type PageServers = z.infer<typeof mcpServers>;

export function toAcpServers(servers: PageServers, allowsPrograms: boolean): ParamsOf<'session/new'>['mcpServers'] {
  return servers.map((server) => {
    if ('url' in server) {
      const { type, url, headers, name = new URL(url).host } = server;
      return { type, name, url, headers: listed(headers) };
    }
    if (!allowsPrograms) throw refusals.stdioServer(server.name);
    const { name, command, args, env } = server;
    return { name, command, args, env: listed(env) };
  });
}

const listed = (given: z.infer<typeof pairs>) =>
  Array.isArray(given) ? given : Object.entries(given).map(([name, value]) => ({ name, value }));
