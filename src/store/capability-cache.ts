// The last `initialize` answer of each agent, so that the next client need not wait for it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fingerprint } from '../fingerprint.ts';
import { makeDirectory, replaceFile } from '../private-files.ts';
export type CachedAnswer = {
  /** The agent's result as written; undefined if it did not answer in time and counts as baseline. */
  readonly text: string | undefined;
  /** The detected dialect, if it is not plain ACP. Not validated here. */
  readonly dialect?: unknown;
};

/** Whether the agent used the MCP servers offered to it, by transport. */
type Seen = Readonly<Record<string, 'connected' | 'ignored'>>;
type Entry = {
  readonly agent: string;
  readonly version?: string;
  readonly at: string;
  readonly result: string | null;
  readonly transports?: Seen;
  readonly dialect?: unknown;
};
type File = { readonly version: 1; readonly entries: Readonly<Record<string, Entry>> };

export type CapabilityCache = {
  find(key: string): CachedAnswer | undefined;
  keep(
    key: string,
    entry: { readonly agent: string; readonly version: string | undefined; readonly text: string | undefined; readonly dialect?: unknown },
  ): void;
};

/** Which MCP transports the agent used when they were offered. */
export type TransportMemory = {
  seen(key: string): Seen;
  note(key: string, transport: string, how: 'connected' | 'ignored'): void;
};

const MAX_ENTRIES = 200;

/** An answer depends on the agent's command and on the client's capabilities. Values of `env` may be secrets, so only their names count. */
export function capabilityKey(
  agent: {
    readonly name: string;
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  },
  clientCapabilities: unknown,
): string {
  const what = [agent.name, agent.command, agent.args, Object.keys(agent.env), clientCapabilities ?? null];
  return fingerprint(JSON.stringify(what));
}

export function createCapabilityCache(
  dir: string,
  now: () => string,
  onProblem: (error: unknown) => void,
): CapabilityCache & TransportMemory {
  const file = path.join(dir, 'capabilities.json');

  function read(): File {
    try {
      const value = JSON.parse(readFileSync(file, 'utf8'));
      if (value?.version === 1 && typeof value.entries === 'object' && value.entries !== null) return value;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' && !(error instanceof SyntaxError)) onProblem(error);
    }
    return { version: 1, entries: {} };
  }

  let known: File | undefined;

  function write(key: string, change: (before: Entry | undefined) => Entry): void {
    // Reads the file again: another process may have changed it.
    const { entries } = read();
    const others = Object.entries(entries).filter(([other]) => other !== key);
    known = { version: 1, entries: Object.fromEntries([...others.slice(-(MAX_ENTRIES - 1)), [key, change(entries[key])]]) };
    try {
      makeDirectory(dir);
      replaceFile(file, JSON.stringify(known, null, 1));
    } catch (error) {
      onProblem(error);
    }
  }

  return {
    find(key) {
      known ??= read();
      // Version 0.1 wrote the dialect as `tongue`.
      const { result, tongue, dialect = tongue }: { result?: unknown; tongue?: unknown; dialect?: unknown } = known.entries[key] ?? {};
      if (result === null) return { text: undefined };
      return typeof result === 'string' && isJson(result) ? { text: result, dialect } : undefined;
    },
    keep(key, { agent, version, text, dialect }) {
      known ??= read();
      const isKnown = known.entries[key] && (known.entries[key].result ?? undefined) === text;
      if (isKnown && JSON.stringify(known.entries[key]?.dialect) === JSON.stringify(dialect)) return;
      write(key, (before) => ({
        ...{ agent, ...(version !== undefined && { version }), at: now(), result: text ?? null, ...(dialect !== undefined && { dialect }) },
        // Another version may support a transport that this one ignored.
        ...(before?.transports && before.version === version && { transports: before.transports }),
      }));
    },
    seen(key) {
      known ??= read();
      const { transports } = known.entries[key] ?? {};
      return typeof transports === 'object' && transports !== null ? transports : {};
    },
    note(key, transport, how) {
      const before = known?.entries[key];
      // Without an answer from the agent there is no entry to add this to. `connected` is final.
      if (!before || before.transports?.[transport] === how || before.transports?.[transport] === 'connected') return;
      write(key, (entry = before) => ({ ...entry, transports: { ...entry.transports, [transport]: how } }));
    },
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
