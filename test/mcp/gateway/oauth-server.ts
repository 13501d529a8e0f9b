// An MCP server over HTTP that requires OAuth, and the authorization server that it names: registration, codes with PKCE, refresh.
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';

export type OAuthServer = {
  readonly url: string;
  /** Every access token that was issued, oldest first. */
  readonly issued: readonly string[];
  /** The access tokens issued so far are no longer accepted; refresh tokens stay. */
  expire(): void;
  /** Nothing is accepted any more, refresh tokens included. */
  revoke(): void;
  close(): void;
};

export async function startOAuthServer(): Promise<OAuthServer> {
  const codes = new Map<string, string>();
  const issued: string[] = [];
  const valid = new Set<string>();
  let refresh = '';
  const mcp = createMcpHandler(() => {
    const server = new McpServer({ name: 'locked', version: '1.0.0' });
    server.registerTool('hello', { description: 'Greets.' }, () => ({ content: [{ type: 'text', text: 'hello' }] }));
    return server;
  });
  const token = () => {
    const access_token = `access-${randomBytes(12).toString('hex')}`;
    refresh = `refresh-${randomBytes(12).toString('hex')}`;
    issued.push(access_token);
    valid.add(access_token);
    return { access_token, token_type: 'Bearer', expires_in: 3600, refresh_token: refresh };
  };
  const json = (response: ServerResponse, status: number, body: object, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
  function exchange(response: ServerResponse, params: URLSearchParams): void {
    const challenge = codes.get(params.get('code') ?? '');
    const isCode =
      challenge ===
      createHash('sha256')
        .update(params.get('code_verifier') ?? '')
        .digest('base64url');
    const isRefresh = params.get('grant_type') === 'refresh_token' && refresh !== '' && params.get('refresh_token') === refresh;
    codes.delete(params.get('code') ?? '');
    if (isCode || isRefresh) json(response, 200, token());
    else json(response, 400, { error: 'invalid_grant' });
  }
  async function serveMcp(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
    if (!valid.has(given))
      return json(response, 401, { error: 'invalid_token' }, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` });
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const hasBody = request.method === 'POST';
    const answer = await mcp.fetch(new Request(`${origin}/mcp`, { method: request.method ?? 'GET', headers, ...(hasBody && { body }) }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  }
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', origin);
    const body = (await request.setEncoding('utf8').toArray()).join('');
    if (pathname.startsWith('/.well-known/oauth-protected-resource'))
      return json(response, 200, { resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (pathname === '/.well-known/oauth-authorization-server')
      return json(response, 200, {
        ...{ issuer: origin, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token` },
        ...{ registration_endpoint: `${origin}/register`, response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] },
        ...{ grant_types_supported: ['authorization_code', 'refresh_token'], token_endpoint_auth_methods_supported: ['none'] },
      });
    if (pathname === '/register') return json(response, 201, { ...JSON.parse(body), client_id: 'client-1' });
    if (pathname === '/authorize') {
      const code = randomBytes(8).toString('hex');
      codes.set(code, searchParams.get('code_challenge') ?? '');
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.search = new URLSearchParams({ code, state: searchParams.get('state') ?? '' }).toString();
      response.writeHead(302, { location: back.href });
      return response.end();
    }
    if (pathname === '/token') return exchange(response, new URLSearchParams(body));
    if (pathname === '/mcp') return serveMcp(request, response, body);
    return json(response, 404, {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/mcp`,
    issued,
    expire: () => valid.clear(),
    revoke() {
      valid.clear();
      refresh = '';
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
