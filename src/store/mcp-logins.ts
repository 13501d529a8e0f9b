// Logins at configured MCP servers: OAuth tokens and the registration of the client, in one private file. Every secret in it is announced
// before it is used, so that nothing shows it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fields, isObject, type JsonObject } from '../json-object.ts';
import { makeDirectory, replaceFile } from '../private-files.ts';

/** `client`, `tokens` and `redirect_url` as OAuth has them. */
export type McpLogin = JsonObject;

export type McpLogins = {
  /** A login counts only for the URL it was made at. */
  find(server: string, url: string): McpLogin | undefined;
  save(server: string, url: string, login: McpLogin): void;
};

const FILE = 'mcp-logins.json';
const SECRETS = ['access_token', 'refresh_token', 'id_token', 'client_secret', 'registration_access_token'];

export function createMcpLogins(dir: string, onSecret: (value: string) => void, onProblem: (error: unknown) => void): McpLogins {
  const file = path.join(dir, FILE);
  function read(): JsonObject {
    try {
      return fields(JSON.parse(readFileSync(file, 'utf8')));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onProblem(error);
      return {};
    }
  }
  function announce(login: McpLogin): void {
    for (const part of [login.tokens, login.client])
      for (const name of SECRETS) {
        const value = fields(part)[name];
        if (typeof value === 'string') onSecret(value);
      }
  }
  return {
    find(server, url) {
      const login = fields(read()[server]);
      if (login.url !== url || !isObject(login)) return undefined;
      announce(login);
      return login;
    },
    save(server, url, login) {
      announce(login);
      makeDirectory(dir);
      replaceFile(file, `${JSON.stringify({ ...read(), [server]: { ...login, url } }, null, 2)}\n`);
    },
  };
}
