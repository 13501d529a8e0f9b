// The client's JSON-RPC library is for commands that are clients themselves: the proxy must not load it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const dist = path.resolve(import.meta.dirname, '../../dist');
const read = (name: string) => readFileSync(path.join(dist, name), 'utf8');

/** A built file and all that it imports before it runs. */
function loadedWith(entry: string): readonly string[] {
  const loaded = new Set([entry]);
  for (const name of loaded)
    for (const [, imported] of read(name).matchAll(/^(?:import|export)\b[^;"']*["']\.\/([\w.-]+)["'];?$/gm)) loaded.add(imported as string);
  return [...loaded];
}
const hasLibrary = (names: readonly string[]) => names.some((name) => read(name).includes('node_modules/vscode-jsonrpc/'));
const chunk = (begin: string) => readdirSync(dist).find((name) => name.startsWith(`${begin}-`) && name.endsWith('.js')) as string;

test('`switchboard acp` does not load vscode-jsonrpc; `run` and `mcp` do', () => {
  expect(hasLibrary(['cli.cjs', ...loadedWith(chunk('acp')), ...loadedWith(chunk('attach'))])).toBe(false);
  for (const command of ['run', 'mcp']) expect(hasLibrary(loadedWith(chunk(command))), command).toBe(true);
});
