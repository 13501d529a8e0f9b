// What a span says, by the GenAI and MCP conventions of OpenTelemetry. Peers choose ids and kinds, so both are checked before they are shown.
import type { TelemetryEvent, Usage } from '../events.ts';
import { knownMethod, knownStopReason, ownWord } from '../metrics/count-events.ts';
import type { Attributes, Span } from './span.ts';

type Of<T extends TelemetryEvent['type']> = Extract<TelemetryEvent, { readonly type: T }>;

const TOOL_KINDS = new Set(['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode', 'other']);
/** Ids of sessions and tool calls, and names of tools. A path or a sentence is none. */
const ID = /^[\w.:-]{1,128}$/;

export const idOf = (text: string | undefined): string | undefined => (text !== undefined && ID.test(text) ? text : undefined);
export const toolKind = (kind: string | undefined): string => (kind !== undefined && TOOL_KINDS.has(kind) ? kind : 'other');
export const toolName = (name: string): string => idOf(name) ?? 'other';

export const turnAttributes = (agent: string | undefined, sessionId: string | undefined): Attributes => ({
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': agent,
  'gen_ai.conversation.id': idOf(sessionId),
});

export const requestAttributes = (method: string, agent: string | undefined, sessionId: string | undefined): Attributes => ({
  'rpc.system.name': 'jsonrpc',
  'rpc.method': knownMethod(method),
  'gen_ai.agent.name': agent,
  'gen_ai.conversation.id': idOf(sessionId),
});

export const endOfTurn = (stopReason: string | undefined, usage?: Usage | undefined): Attributes => ({
  'gen_ai.response.finish_reasons': stopReason === undefined ? undefined : [knownStopReason(stopReason)],
  'gen_ai.usage.input_tokens': usage?.inputTokens,
  'gen_ai.usage.output_tokens': usage?.outputTokens,
  'gen_ai.usage.cache_read.input_tokens': usage?.cachedReadTokens,
  'gen_ai.usage.cache_creation.input_tokens': usage?.cachedWriteTokens,
});

/** The reason of this program, or else the JSON-RPC code. */
export const errorOf = ({ error, reason }: Of<'answer'>): string | undefined =>
  error === undefined ? undefined : reason === undefined ? String(error) : ownWord(reason);

export const toolCallAttributes = (kind: string | undefined, toolCallId: string): Attributes => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': toolKind(kind),
  'gen_ai.tool.call.id': idOf(toolCallId),
});

/** Of a host tool, or of a tool of an MCP server. */
export const calledToolAttributes = ({ tool, server }: Of<'tool'>, isOwn: boolean): Attributes => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': toolName(tool),
  'mcp.method.name': 'tools/call',
  'switchboard.mcp.server': isOwn ? undefined : idOf(server),
});

export const decisionAttributes = ({ surface, verdict, outcome, answeredBy, count }: Of<'decision'>): Attributes => ({
  'switchboard.policy.surface': ownWord(surface),
  'switchboard.policy.verdict': verdict,
  'switchboard.policy.outcome': outcome,
  'switchboard.policy.answered_by': answeredBy,
  'switchboard.policy.actions': count > 1 ? count : undefined,
});

const CHOSEN_BY_PEERS = ['gen_ai.conversation.id', 'gen_ai.tool.call.id', 'gen_ai.tool.name'];

type Redact = (text: string) => string;

export function withoutSecrets<T extends Attributes>(attributes: T, redact: Redact, keys: readonly string[]): T {
  const changed = keys.flatMap((key) => {
    const value = attributes[key];
    return typeof value === 'string' ? [[key, redact(value)] as const] : [];
  });
  return { ...attributes, ...Object.fromEntries(changed) };
}

/** The span as it may leave this process. */
export function cleaned(span: Span, redact: Redact): Span {
  const { state, ...context } = span.context;
  return {
    ...span,
    context: state !== undefined && redact(state) === state ? span.context : context,
    name: redact(span.name),
    attributes: withoutSecrets(span.attributes, redact, CHOSEN_BY_PEERS),
  };
}
