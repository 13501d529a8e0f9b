// The definitions of MCP server tools as first seen. One JSON line each; the newest counts.
import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory, replaceFile } from '../private-files.ts';

type Pin = { readonly server: string; readonly tool: string; readonly hash: string };

export type ToolPins = {
  find(server: string, tool: string): string | undefined;
  keep(server: string, tool: string, hash: string): void;
  /** Forgets a server's tools, so that the next sight is the first again; returns how many there were. */
  forget(server: string): number;
};

export function createToolPins(dir: string, onProblem: (error: unknown) => void): ToolPins {
  const file = path.join(dir, 'mcp-tools.jsonl');
  let known: Map<string, Pin> | undefined;
  const keyOf = (server: string, tool: string) => `${server}\n${tool}`;
  const pins = () => {
    known ??= new Map(read().map((pin) => [keyOf(pin.server, pin.tool), pin]));
    return known;
  };
  function read(): Pin[] {
    try {
      return readFileSync(file, 'utf8').split('\n').flatMap(parse);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onProblem(error);
      return [];
    }
  }
  return {
    find: (server, tool) => pins().get(keyOf(server, tool))?.hash,
    keep(server, tool, hash) {
      pins().set(keyOf(server, tool), { server, tool, hash });
      try {
        makeDirectory(dir);
        appendFileSync(file, `${JSON.stringify({ server, tool, hash })}\n`, { mode: 0o600 });
      } catch (error) {
        onProblem(error);
      }
    },
    forget(server) {
      const all = [...pins().values()];
      const kept = all.filter((pin) => pin.server !== server);
      if (kept.length === all.length) return 0;
      replaceFile(file, kept.map((pin) => `${JSON.stringify(pin)}\n`).join(''));
      known = undefined;
      return all.length - kept.length;
    },
  };
}

function parse(line: string): Pin[] {
  try {
    const { server, tool, hash } = JSON.parse(line) as Partial<Pin>;
    return typeof server === 'string' && typeof tool === 'string' && typeof hash === 'string' ? [{ server, tool, hash }] : [];
  } catch {
    return []; // an incomplete last line of a killed process
  }
}
