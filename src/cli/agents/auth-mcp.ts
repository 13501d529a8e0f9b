// `switchboard auth mcp SERVER`: logs in to a configured MCP server with OAuth. The browser comes back to a listener on loopback, which lives
// only until then.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { oauthProvider } from '../../mcp/gateway/oauth.ts';
import { nearestOf } from '../../policy/format/nearest.ts';
import { createMcpLogins } from '../../store/mcp-logins.ts';
import { CommandFailure } from '../failure.ts';
import { notice, printJson } from '../output.ts';
import { resolveConfig } from '../resolve-config.ts';
import type { LoginFlags } from './auth.ts';

const EXIT = { ok: 0, usage: 2, timeout: 3, notFound: 4, unavailable: 7 } as const;
const LOGIN_MS = 5 * 60_000;
const PATH = '/callback';

export async function loginToMcp(name: string, flags: LoginFlags): Promise<number> {
  const { config, stateDir } = await resolveConfig({ config: flags.config });
  const server = config.mcpServers.find((one) => one.name === name);
  if (!server) {
    const known = config.mcpServers.map((one) => one.name);
    throw new CommandFailure(EXIT.notFound, `unknown MCP server "${name}"`, nearestOf(name, known, 'configured servers'));
  }
  if (!('url' in server.at))
    throw new CommandFailure(EXIT.usage, `MCP server "${name}" is a program`, 'OAuth is for servers with "url"; set its keys in "env"');
  const { url } = server.at;
  const logins = createMcpLogins(
    stateDir,
    () => {}, // nothing here shows tokens
    (error) => notice((error as Error).message),
  );
  const state = randomBytes(16).toString('hex');
  const listener = createServer();
  try {
    const redirectUrl = await listen(listener);
    const answered = comesBack(listener, state);
    answered.catch(() => {}); // awaited below
    const { auth } = await import('@modelcontextprotocol/client');
    const redirect = (page: URL) => process.stderr.write(`To log in to ${name}, open this page in a browser:\n\n  ${page.href}\n\n`);
    const provider = oauthProvider(name, url, logins, { redirectUrl, state, redirect });
    if ((await auth(provider, { serverUrl: url })) !== 'AUTHORIZED') {
      const { code, iss } = await answered;
      await auth(provider, { serverUrl: url, authorizationCode: code, ...(iss !== undefined && { iss }) });
    }
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(
      EXIT.unavailable,
      `the login to MCP server "${name}" failed: ${(error as Error).message}`,
      `check that ${new URL(url).origin} supports OAuth, or set "headers" for this server`,
    );
  } finally {
    listener.close();
    listener.closeAllConnections();
  }
  if (flags.json) printJson({ server: name, authenticated: true });
  else process.stdout.write(`${name}: logged in. Agents get its tools from the next session on.\n`);
  return EXIT.ok;
}

function listen(listener: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject);
    listener.listen({ host: '127.0.0.1', port: 0 }, () => resolve(`http://127.0.0.1:${(listener.address() as AddressInfo).port}${PATH}`));
  });
}

type Callback = { readonly code: string; readonly iss: string | undefined };

/** The first request with our state counts. */
function comesBack(listener: Server, state: string): Promise<Callback> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new CommandFailure(EXIT.timeout, 'nobody logged in within 5 minutes', 'run the command again'));
    setTimeout(late, LOGIN_MS).unref();
    listener.on('request', (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
      const isOurs = pathname === PATH && isSame(searchParams.get('state') ?? '', state);
      response.writeHead(isOurs ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
      response.end(isOurs ? 'You can close this page and return to the terminal.\n' : 'not found\n');
      if (!isOurs) return;
      const code = searchParams.get('code');
      if (code !== null) return resolve({ code, iss: searchParams.get('iss') ?? undefined });
      reject(new Error(searchParams.get('error_description') ?? searchParams.get('error') ?? 'the server sent no code'));
    });
  });
}

const isSame = (given: string, state: string): boolean =>
  given.length === state.length && timingSafeEqual(Buffer.from(given), Buffer.from(state));
