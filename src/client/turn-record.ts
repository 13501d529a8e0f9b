// A turn as one result: messages and other content in order, tool calls, changed files, the plan and the usage.
import { fields, type JsonObject, list, textOf } from '../json-object.ts';

export type ToolCallSeen = {
  readonly toolCallId: string;
  readonly title: string;
  readonly kind: string;
  readonly status: string;
  readonly paths: readonly string[];
};

export type PlanEntry = { readonly content: string; readonly status: string };

/** As the agent reported it: for the turn, or else for the session so far. */
export type Usage = {
  readonly tokens?: number;
  /** The size of the context window. */
  readonly size?: number;
  readonly cost?: { readonly amount: number; readonly currency: string };
};

/** A content block of a message: text, an image, audio, a link or an embedded resource. */
export type Block = JsonObject & { readonly type: string };

/** What a caller may show while the turn runs. */
export type Step = {
  readonly text: string;
  readonly kind: 'message' | 'thought' | 'tool' | 'plan' | 'notice';
  /** How many entries of the plan are complete, and how many there are. */
  readonly completed?: number | undefined;
  readonly total?: number | undefined;
};

export type TurnRecord = {
  /** Records an update; returns the step to show, if there is one. */
  update(update: JsonObject): Step | undefined;
  /** What is known about a tool call, for a permission request that has only its id. */
  call(toolCallId: unknown): JsonObject | undefined;
  text(): string;
  content(): readonly Block[];
  toolCalls(): readonly ToolCallSeen[];
  changedFiles(): readonly string[];
  plan(): readonly PlanEntry[];
  /** Notices of the agent and of switchboard, for example about what the policy refused. */
  notices(): readonly string[];
  usage(): Usage;
};

/** Of a turn. */
const MOST_NOTICES = 100;

export function createTurnRecord(): TurnRecord {
  const content: Block[] = [];
  const calls = new Map<string, JsonObject>();
  /** The files that each call changes. */
  const files = new Map<string, Set<string>>();
  const notices: string[] = [];
  let plan: readonly PlanEntry[] = [];
  let usage: Usage = {};
  const counts = () =>
    plan.length === 0 ? {} : { completed: plan.filter(({ status }) => status === 'completed').length, total: plan.length };

  function message(block: JsonObject): Step | undefined {
    const last = content.at(-1);
    if (block.type === 'text') {
      const text = textOf(block.text) ?? '';
      if (last?.type === 'text') content[content.length - 1] = { type: 'text', text: `${last.text}${text}` };
      else content.push({ type: 'text', text });
      return text === '' ? undefined : { text, kind: 'message', ...counts() };
    }
    if (typeof block.type !== 'string') return undefined;
    content.push(block as Block);
    return { text: `[${block.type}]`, kind: 'message', ...counts() };
  }
  function toolCall(update: JsonObject): Step | undefined {
    const { sessionUpdate: _, toolCallId, ...news } = update;
    if (typeof toolCallId !== 'string') return undefined;
    const before = calls.get(toolCallId);
    const present = Object.fromEntries(Object.entries(news).filter(([, value]) => value !== undefined && value !== null));
    const call: JsonObject = { ...before, ...present };
    calls.set(toolCallId, call);
    const changed = files.get(toolCallId) ?? new Set();
    files.set(toolCallId, changed);
    for (const block of list(news.content).map(fields)) if (block.type === 'diff' && textOf(block.path)) changed.add(String(block.path));
    if (call.kind === 'edit' && call.status === 'completed') for (const path of pathsOf(call)) changed.add(path);
    if (before && before.status === call.status) return undefined;
    return { text: `${textOf(call.title) ?? 'a tool'}: ${textOf(call.status) ?? 'pending'}`, kind: 'tool', ...counts() };
  }
  function planned(entries: unknown): Step | undefined {
    plan = list(entries).map((entry) => {
      const { content: what, status } = fields(entry);
      return { content: textOf(what) ?? '', status: textOf(status) ?? 'pending' };
    });
    const current = plan.find(({ status }) => status === 'in_progress') ?? plan.find(({ status }) => status !== 'completed');
    const { completed = 0, total = 0 } = counts();
    return { text: `Plan: ${completed} of ${total} done${current ? `; ${current.content}` : ''}`, kind: 'plan', ...counts() };
  }

  return {
    update(update) {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
          return message(fields(update.content));
        case 'agent_thought_chunk': {
          const text = textOf(fields(update.content).text) ?? '';
          return text === '' ? undefined : { text, kind: 'thought', ...counts() };
        }
        case 'tool_call':
        case 'tool_call_update':
          return toolCall(update);
        case 'plan':
          return planned(update.entries);
        case 'notice': {
          const text = [textOf(update.title), textOf(update.description)].filter(Boolean).join('. ');
          if (text === '') return undefined;
          if (notices.length < MOST_NOTICES) notices.push(text);
          return { text, kind: 'notice', ...counts() };
        }
        case 'usage_update':
          usage = usageOf(update);
          return undefined;
        default:
          return undefined;
      }
    },
    call: (toolCallId) => calls.get(String(toolCallId)),
    text: () => content.flatMap((block) => (block.type === 'text' ? [String(block.text)] : [])).join(''),
    content: () => content,
    toolCalls: () =>
      [...calls].map(([toolCallId, call]) => ({
        toolCallId,
        title: textOf(call.title) ?? 'a tool',
        kind: textOf(call.kind) ?? 'other',
        status: textOf(call.status) ?? 'pending',
        paths: pathsOf(call),
      })),
    // A call that was rejected or failed has changed nothing.
    changedFiles: () => [...new Set([...files].flatMap(([id, changed]) => (calls.get(id)?.status === 'failed' ? [] : [...changed])))],
    plan: () => plan,
    notices: () => notices,
    usage: () => usage,
  };
}

const pathsOf = (call: JsonObject): readonly string[] => list(call.locations).flatMap((one) => textOf(fields(one).path) ?? []);

function usageOf({ used, size, cost }: JsonObject): Usage {
  const { amount, currency } = fields(cost);
  return {
    ...(typeof used === 'number' && { tokens: used }),
    ...(typeof size === 'number' && { size }),
    ...(typeof amount === 'number' && typeof currency === 'string' && { cost: { amount, currency } }),
  };
}
