// Converts ACP updates and session responses to console events.
import { createHash } from 'node:crypto';
import { fields, type JsonObject, list, textOf as text } from '../../json-object.ts';

export { list, textOf as text } from '../../json-object.ts';

import type { About, Block, Compaction, Event, PlanEntry, Role, Subagent, ToolContent, ToolNews } from '../protocol/conversation.ts';

export type Fields = JsonObject;

/** Stand for `modes` and `models`, which older agents send instead of options. */
export const MODE_OPTION = '$mode';
export const MODEL_OPTION = '$model';
const MAX_SHOWN = 100_000;

/** A Map: kinds are chosen by the agent and may be `constructor`. */
const ROLES: ReadonlyMap<string, Role> = new Map([
  ['user_message_chunk', 'user'],
  ['agent_message_chunk', 'agent'],
  ['agent_thought_chunk', 'thought'],
]);

/** A text chunk; it is cleaned as a stream. */
export function chunkOf(
  update: Fields,
): { readonly role: Role; readonly messageId: string | undefined; readonly text: string; readonly about: About | undefined } | undefined {
  const role = ROLES.get(String(update.sessionUpdate));
  const content = fields(update.content);
  if (role === undefined || content.type !== 'text' || typeof content.text !== 'string') return undefined;
  return { role, messageId: text(update.messageId), text: content.text, about: aboutOf(content) };
}

/** Claude Code sends this for a message without text. */
export const isPlaceholder = ({ role, text }: { readonly role: Role; readonly text: string }): boolean =>
  role === 'agent' && text === '(no content)';

export type SummaryChunk = { readonly compactionId: string; readonly text: string };

/** A chunk of a compaction summary. */
export function summaryChunkOf(update: Fields): SummaryChunk | undefined {
  if (update.sessionUpdate !== 'compaction_summary_chunk') return undefined;
  return { compactionId: String(update.compactionId), text: joinedText([update.content]) };
}

/** Any update but text chunks. Unknown kinds are shown as received. */
export function eventOf(update: Fields): Event | undefined {
  const kind = String(update.sessionUpdate);
  const role = ROLES.get(kind);
  if (role !== undefined) return { e: 'block', role, block: blockOf(update.content) };
  switch (kind) {
    case 'tool_call':
    case 'tool_call_update':
      return typeof update.toolCallId === 'string' ? { e: 'tool', ...toolOf(update) } : unknownOf(update);
    case 'plan':
      return { e: 'plan', entries: list(update.entries).map(entryOf) };
    case 'available_commands_update':
      return { e: 'commands', commands: list(update.availableCommands).map(commandOf) };
    case 'current_mode_update':
    case 'current_model_update':
      return currentOf(update) ?? unknownOf(update);
    case 'usage_update':
      return usageOf(update);
    case 'notice':
      return {
        e: 'note',
        text: [text(update.title), text(update.description)].filter((part) => part !== undefined).join(': '),
        severity: text(update.severity),
      };
    case 'plan_update':
      return planOf(fields(update.plan)) ?? unknownOf(update);
    case 'plan_removed':
      return { e: 'unplan', planId: String(update.planId) };
    case 'compaction_update':
      return { e: 'compaction', ...compactionOf(update) };
    case 'subagent_update':
      return { e: 'subagent', ...subagentOf(update) };
    default:
      return unknownOf(update);
  }
}

/** A mode or model that the agent chose itself. Some agents write the field in snake case. */
function currentOf(update: Fields): Event | undefined {
  const isMode = update.sessionUpdate === 'current_mode_update';
  const value = isMode
    ? text(update.currentModeId ?? update.current_mode_id ?? update.modeId ?? update.mode_id)
    : text(update.currentModelId ?? update.current_model_id ?? update.modelId ?? update.model_id);
  if (value === undefined) return undefined;
  return { e: 'option', id: isMode ? MODE_OPTION : MODEL_OPTION, category: isMode ? 'mode' : 'model', value };
}

const unknownOf = (update: Fields): Event => ({
  e: 'unknown',
  name: text(update.sessionUpdate) ?? text(update.type) ?? 'update',
  text: shown(update) ?? '',
});

function planOf({ type, planId, entries, content, uri }: Fields): Event | undefined {
  const about = { e: 'plan' as const, planId: text(planId) };
  if (type === 'items') return { ...about, entries: list(entries).map(entryOf) };
  if (type === 'markdown') return { ...about, entries: [], text: text(content) ?? '' };
  if (type === 'file') return { ...about, entries: [], uri: text(uri) ?? '' };
  return undefined;
}

function compactionOf({ compactionId, status, summary, error }: Fields): Compaction {
  return {
    compactionId: String(compactionId),
    status: text(status),
    summary: Array.isArray(summary) ? joinedText(summary) : nullOr(summary),
    error: nullOr(error),
  };
}

function subagentOf({ sessionId, title, description, state }: Fields): Subagent {
  const { state: how, stopReason } = fields(state);
  const shown = [text(how), text(stopReason)].filter((part) => part !== undefined).join(': ');
  return {
    childId: String(sessionId),
    title: nullOr(title),
    description: nullOr(description),
    state: state === null ? null : shown === '' ? undefined : shown,
  };
}

/** `null` clears a field; a missing one keeps it. */
const nullOr = (value: unknown): string | null | undefined => (value === null ? null : text(value));
const joinedText = (blocks: readonly unknown[]): string =>
  blocks.map((block) => text(fields(block).text) ?? `[${String(fields(block).type)}]`).join('');

/**
 * Adds a fingerprint to each change that is shown unaltered. `update` is what the agent sent, `event` what is shown. Line endings do not
 * count.
 */
export function withPrints(event: Event, update: Fields): Event {
  if (event.e !== 'tool' || !event.content?.some(({ type }) => type === 'diff')) return event;
  const given = list(update.content).map(fields);
  const isSame = (shown: string | undefined, raw: unknown) =>
    shown === (typeof raw === 'string' ? raw.replaceAll('\r\n', '\n') : undefined);
  const content = event.content.map((one, index): ToolContent => {
    const { path, oldText, newText } = given[index] ?? {};
    if (one.type !== 'diff') return one;
    const isExact = isSame(one.path, path) && isSame(one.oldText, oldText) && isSame(one.newText, newText);
    return isExact ? { ...one, print: printOf(one) } : one;
  });
  return { ...event, content };
}

/** Identifies a change: only what was shown may be applied. */
function printOf({ path, oldText, newText }: Extract<ToolContent, { type: 'diff' }>): string {
  return createHash('sha256')
    .update(JSON.stringify([path, oldText ?? null, newText]))
    .digest('base64url');
}

export function toolOf(call: Fields): ToolNews {
  const { toolCallId, title, kind, status, content, locations, rawInput, rawOutput } = call;
  return {
    toolCallId: String(toolCallId),
    title: text(title),
    toolKind: text(kind),
    status: text(status),
    content: Array.isArray(content) ? content.flatMap(contentOf) : undefined,
    locations: Array.isArray(locations) ? locations.map((one) => String(fields(one).path ?? '')) : undefined,
    input: shown(rawInput),
    output: shown(rawOutput),
  };
}

function contentOf(value: unknown): ToolContent[] {
  const one = fields(value);
  if (one.type === 'content') return [{ type: 'content', content: blockOf(one.content) }];
  if (one.type === 'terminal') return [{ type: 'terminal', terminalId: String(one.terminalId) }];
  if (one.type === 'diff') return [{ type: 'diff', path: String(one.path), oldText: text(one.oldText), newText: text(one.newText) ?? '' }];
  return [{ type: 'content', content: blockOf(one) }];
}

/** The agent's annotations of a block, without unknown ones. */
function aboutOf(block: Fields): About | undefined {
  const { audience, priority, lastModified } = fields(block.annotations);
  const about: About = {
    ...(Array.isArray(audience) && audience.length > 0 && { audience: audience.slice(0, 4).map((one) => String(one).slice(0, 40)) }),
    ...(typeof priority === 'number' && { priority }),
    ...(typeof lastModified === 'string' && { lastModified: lastModified.slice(0, 40) }),
  };
  return Object.keys(about).length > 0 ? about : undefined;
}

export function blockOf(value: unknown): Block {
  const about = aboutOf(fields(value));
  const block = plainBlockOf(value);
  return about ? { ...block, about } : block;
}

function plainBlockOf(value: unknown): Block {
  const block = fields(value);
  switch (block.type) {
    case 'text':
      return { type: 'text', text: text(block.text) ?? '' };
    case 'image':
    case 'audio':
      return { type: block.type, data: text(block.data) ?? '', mimeType: text(block.mimeType) ?? '' };
    case 'resource_link':
      return {
        type: 'resource_link',
        uri: text(block.uri) ?? '',
        name: text(block.title) ?? text(block.name),
        description: text(block.description),
      };
    case 'resource': {
      const resource = fields(block.resource);
      return { type: 'resource', uri: text(resource.uri) ?? '', text: text(resource.text), mimeType: text(resource.mimeType) };
    }
    default:
      return { type: 'other', text: shown(value) ?? '' };
  }
}

function entryOf(value: unknown): PlanEntry {
  const { content, status, priority } = fields(value);
  return { content: text(content) ?? '', status: text(status) ?? 'pending', priority: text(priority) };
}

function commandOf(value: unknown) {
  const { name, description, input } = fields(value);
  return { name: String(name), description: text(description) ?? '', hint: text(fields(input).hint) };
}

export function usageOf({ used, size, cost }: Fields): Event | undefined {
  if (typeof used !== 'number' || typeof size !== 'number') return undefined;
  const { amount, currency } = fields(cost);
  const price = typeof amount === 'number' ? `${amount.toFixed(2)} ${text(currency) ?? ''}`.trim() : undefined;
  return { e: 'usage', usage: { used, size, cost: price } };
}

/** Any value as readable text. */
export function shown(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const shown = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown;
}
