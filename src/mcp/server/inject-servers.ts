// Adds servers to the list a session is opened with. The client's entries stay unchanged; ours follow them.
import { isOffered } from '../../acp/shapes.ts';
import type { Span } from '../../wire/frame.ts';
import { elements, member, members, stringAt } from '../../wire/json-path.ts';
import type { Patch } from '../../wire/writer.ts';

/** No underscore: agents build tool names as `server_tool` or `mcp__server__tool` and split them there. */
const NAME = 'switchboard';

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/** Methods whose list may be missing; where it is required, the agent reports its absence. */
const MAY_LACK_LIST = new Set(['session/resume', 'session/fork']);

/** Writes servers as JSON text under names that are not `taken`. */
export type Entries = (name: string, taken: readonly (string | undefined)[]) => readonly string[];

/** The patch to `params` that adds servers; undefined if there is no list to extend. */
export function injection(bytes: Buffer, params: Span | undefined, method: string, entries: Entries): Patch | undefined {
  if (!params || bytes[params.start] !== OPEN_BRACE) return undefined;
  const lists = members(bytes, params.start).filter(({ key }) => key === 'mcpServers');
  const [list, another] = lists;
  if (another) return undefined; // duplicate key: the agent decides which counts
  if (!list) {
    if (!MAY_LACK_LIST.has(method)) return undefined;
    const isEmpty = members(bytes, params.start).length === 0;
    return { span: at(params.start + 1), text: `"mcpServers":[${entries(NAME, [])}]${isEmpty ? '' : ','}` };
  }
  if (bytes[list.value.start] !== OPEN_BRACKET) return undefined;
  const servers = elements(bytes, list.value.start);
  const taken = servers.map(({ start }) => stringAt(bytes, member(bytes, start, 'name')));
  const text = entries(freeName(taken), taken).join(',');
  const last = servers.at(-1);
  return last ? { span: at(last.end), text: `,${text}` } : { span: at(list.value.start + 1), text };
}

/** The same for params as text. */
export function injectedText(paramsText: string, method: string, entries: Entries): string {
  const bytes = Buffer.from(paramsText);
  const patch = injection(bytes, { start: 0, end: bytes.length }, method, entries);
  if (!patch) return paramsText;
  return `${bytes.toString('utf8', 0, patch.span.start)}${patch.text}${bytes.toString('utf8', patch.span.end)}`;
}

/** A name the client uses stays the client's. */
function freeName(taken: readonly (string | undefined)[]): string {
  let name = NAME;
  for (let n = 2; taken.includes(name); n++) name = `${NAME}-${n}`;
  return name;
}

const at = (offset: number): Span => ({ start: offset, end: offset });

// Chooses the transport for a server: what the agent advertises, corrected by what it was seen to use.
export type McpTransport = 'acp' | 'http' | 'stdio';
export type McpTransportSetting = 'auto' | McpTransport | 'off';

/** What earlier sessions of the agent showed: transports it connected by, and transports it ignored. */
export type SeenTransports = Readonly<Partial<Record<McpTransport, 'connected' | 'ignored'>>>;

/**
 * Best first. Agents that accept http are known to drop stdio servers (copilot), so stdio comes last, though every agent must accept it.
 */
export function takenTransports(mcpCapabilities: unknown): readonly McpTransport[] {
  const { acp, http } = typeof mcpCapabilities === 'object' && mcpCapabilities !== null ? (mcpCapabilities as Record<string, unknown>) : {};
  return [...(isOffered(acp) ? (['acp'] as const) : []), ...(isOffered(http) ? (['http'] as const) : []), 'stdio'];
}

/** The first that worked, else the first not known to fail. If all failed, the first again: the agent may have changed. */
export function chooseTransport(setting: McpTransportSetting, mcpCapabilities: unknown, seen: SeenTransports): McpTransport | undefined {
  if (setting === 'off') return undefined;
  if (setting !== 'auto') return setting;
  const taken = takenTransports(mcpCapabilities);
  return taken.find((one) => seen[one] === 'connected') ?? taken.find((one) => seen[one] === undefined) ?? taken[0];
}
