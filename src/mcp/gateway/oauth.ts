// OAuth at a configured MCP server, by the SDK's client. `switchboard auth mcp NAME` logs in; the gateway uses and refreshes the tokens.
import type { OAuthClientProvider, StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import { ToolFailure } from '../server/tool.ts';

type Login = Readonly<Record<string, unknown>>;
export type Logins = { find(server: string, url: string): Login | undefined; save(server: string, url: string, login: Login): void };

export type Interaction = {
  /** Where the browser comes back to. */
  readonly redirectUrl: string;
  readonly state: string;
  /** Sends the user to the server's page. */
  redirect(url: URL): void;
};

/** Without `interaction` the stored login must do; when it does not, the message says how to log in again. */
export function oauthProvider(server: string, url: string, logins: Logins, interaction?: Interaction): OAuthClientProvider {
  // A new login registers a new client: the redirect URL, which has a port, is part of the registration.
  let login: Login = interaction ? { redirect_url: interaction.redirectUrl } : (logins.find(server, url) ?? {});
  let verifier = '';
  const redirectUrl = interaction?.redirectUrl ?? String(login.redirect_url ?? 'http://127.0.0.1/callback');
  const keep = (part: Login) => {
    login = { ...login, ...part };
    if (login.tokens !== undefined) logins.save(server, url, login);
  };
  return {
    redirectUrl,
    clientMetadata: {
      client_name: 'acp-switchboard',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    ...(interaction && { state: () => interaction.state }),
    clientInformation: () => login.client as StoredOAuthClientInformation | undefined,
    saveClientInformation: (client) => keep({ client }),
    tokens: () => login.tokens as StoredOAuthTokens | undefined,
    saveTokens: (tokens) => keep({ tokens }),
    saveCodeVerifier(value) {
      verifier = value;
    },
    codeVerifier: () => verifier,
    redirectToAuthorization(page) {
      if (!interaction) throw new ToolFailure(loginHint(server));
      interaction.redirect(page);
    },
  };
}

export const loginHint = (server: string): string => `it requires a login; run: switchboard auth mcp ${server}`;
