// A configured server as agents are told of it: as it is, for those who want no gateway in between.
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import type { ClientServer } from '../bridge/client-server.ts';
import type { McpServerSettings } from '../settings.ts';

/** The same as if the client had brought it. */
export const clientServer = ({ name, at }: McpServerSettings): ClientServer =>
  'url' in at ? { kind: 'http', name, ...at } : { kind: 'stdio', name, command: at.command, args: at.args, env: at.env };

/** The `mcpServers` entry, as JSON text; undefined where the program cannot be found. */
export function directEntry({ name, at }: McpServerSettings, env: NodeJS.ProcessEnv): string | undefined {
  if ('url' in at) return JSON.stringify({ type: 'http', name, url: at.url, headers: pairs(at.headers) });
  const command = findProgram(at.command, env);
  return command === undefined ? undefined : JSON.stringify({ name, command, args: at.args, env: pairs(at.env) });
}

const pairs = (values: Readonly<Record<string, string>>) => Object.entries(values).map(([name, value]) => ({ name, value }));

/** Agents must be given an absolute path. */
function findProgram(command: string, { PATH = '', PATHEXT = '' }: NodeJS.ProcessEnv): string | undefined {
  if (path.isAbsolute(command)) return command;
  const endings = process.platform === 'win32' ? PATHEXT.split(';') : [''];
  const places = command.includes(path.sep) ? [process.cwd()] : PATH.split(path.delimiter).filter((dir) => dir !== '');
  return places.flatMap((dir) => endings.map((ending) => path.resolve(dir, `${command}${ending}`))).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
