// Adds the `agent` option and the `/agent` command to an agent's frames and leaves the rest unchanged. Only with several agents.
import { isDeepStrictEqual } from 'node:util';
import { readModels, readModes } from '../../acp/shapes.ts';
import {
  type AgentChoice,
  type AgentOptions,
  addedOptions,
  agentCommand,
  COMMAND_NAME,
  completeList,
  NO_OPTIONS,
  withMode,
  withModel,
} from '../../router/config-options.ts';
import { areSettings, type SessionSettings } from '../../store/sessions/session-records.ts';
import type { Frame, Span } from '../../wire/frame.ts';
import { elements, member, memberAt, members, stringAt } from '../../wire/json-path.ts';
import { strictParse } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import { requestLine, updateLine } from '../json-rpc-lines.ts';
import type { Parts } from '../parts.ts';
import { toPublic } from '../rewrite.ts';
import { record } from './open-params.ts';
import type { Session } from './session.ts';

/** The options and commands that an agent has reported for one session. */
export class ConfigOptions {
  #agent: AgentOptions = NO_OPTIONS;
  #hasCommands = false;
  #hasAgentCommand = false;

  /** The agent's own options, modes and models. */
  get agent(): AgentOptions {
    return this.#agent;
  }
  /** The agent has sent its commands, and the client got ours with them. */
  get hasCommands(): boolean {
    return this.#hasCommands;
  }
  /** The agent has a command with the same name as ours; then the name means the agent's. */
  get hasAgentCommand(): boolean {
    return this.#hasAgentCommand;
  }
  /** From a result of session/new, load, resume or fork. */
  read(answer: Frame): void {
    this.#agent = readOptions(answer);
  }
  /** Reads only the list of options, in the object at `holder`. */
  readList(bytes: Buffer, holder: Span): void {
    this.#agent = { ...this.#agent, ...ownOptions(bytes, holder) };
  }
  readCommands(names: readonly (string | undefined)[]): void {
    this.#hasCommands = true;
    this.#hasAgentCommand = names.includes(COMMAND_NAME);
  }
  setMode(modeId: string): void {
    this.#agent = withMode(this.#agent, modeId);
  }
  setModel(modelId: string): void {
    this.#agent = withModel(this.#agent, modelId);
  }
  /** The agent does not have the session. */
  clear(): void {
    this.#agent = NO_OPTIONS;
  }
}

export function choiceOf(proxy: Parts<'pool'>, session: Session): AgentChoice {
  return { current: session.agent.name, agents: proxy.pool.titles(), isLocked: session.agentLocked };
}

/** The options in a result of session/new, load, resume or fork. */
function readOptions(frame: Frame): AgentOptions {
  const { bytes, body } = frame;
  if (!body) return NO_OPTIONS;
  return {
    ...ownOptions(bytes, body),
    modes: readModes(valueAt(bytes, member(bytes, body.start, 'modes'))),
    models: readModels(valueAt(bytes, member(bytes, body.start, 'models'))),
  };
}

function ownOptions(bytes: Buffer, holder: Span): Pick<AgentOptions, 'own' | 'ownIds'> {
  const list = member(bytes, holder.start, 'configOptions');
  if (!list || bytes[list.start] !== 0x5b) return { own: undefined, ownIds: [] };
  const entries = elements(bytes, list.start);
  const ownIds = entries.flatMap((entry) => stringAt(bytes, member(bytes, entry.start, 'id')) ?? []);
  return { own: bytes.toString('utf8', list.start + 1, list.end - 1).trim(), ownIds };
}

function valueAt(bytes: Buffer, span: Span | undefined): unknown {
  return span && JSON.parse(bytes.toString('utf8', span.start, span.end));
}

/** Adds our options before the agent's, in the object at `holder` (a result or an update). */
export function withOurOptions(proxy: Parts<'pool'>, session: Session, bytes: Buffer, holder: Span): Patch[] {
  const ours = addedOptions(session.options.agent, choiceOf(proxy, session))
    .map((option) => JSON.stringify(option))
    .join(',');
  return [inserted(bytes, holder, 'configOptions', ours)];
}

/** Inserts `items` at the start of the array member `key`; creates the member or the object if it is missing. */
function inserted(bytes: Buffer, holder: Span, key: string, items: string): Patch {
  if (bytes[holder.start] !== 0x7b) return { span: holder, text: `{"${key}":[${items}]}` };
  const list = member(bytes, holder.start, key);
  if (list && bytes[list.start] === 0x5b) {
    const at = list.start + 1;
    return { span: { start: at, end: at }, text: elements(bytes, list.start).length > 0 ? `${items},` : items };
  }
  if (list) return { span: list, text: `[${items}]` };
  const at = holder.start + 1;
  const isEmpty = bytes.toString('utf8', at, holder.end - 1).trim() === '';
  return { span: { start: at, end: at }, text: `"${key}":[${items}]${isEmpty ? '' : ','}` };
}

/** Sends the whole list to the client again, after a change that the agent did not report itself. */
export function announceOptions(proxy: Parts<'pool' | 'client'>, session: Session): void {
  const list = completeList(session.options.agent, choiceOf(proxy, session));
  proxy.client.line(updateLine(session.publicId, `{"sessionUpdate":"config_option_update","configOptions":${list}}`));
}

/** Announces our command for an agent that has not sent its own list (yet). */
export function announceCommand(proxy: Parts<'pool' | 'client'>, session: Session): void {
  if (session.options.hasCommands) return;
  const command = JSON.stringify(agentCommand(proxy.pool.choice.agents));
  proxy.client.line(updateLine(session.publicId, `{"sessionUpdate":"available_commands_update","availableCommands":[${command}]}`));
}

/** Forwards an update of a session; completes those about options, commands or other sessions. */
export function passUpdate(proxy: Parts<'pool' | 'registry' | 'client'>, session: Session, kind: string | undefined, frame: Frame): void {
  if (kind === undefined) return proxy.client.notify(frame, toPublic(session, frame));
  const pass = (patches: readonly Patch[]) => proxy.client.notify(frame, [...toPublic(session, frame), ...patches]);
  if (kind === 'tool_call' || kind === 'tool_call_update' || kind === 'usage_update') return pass([]);
  const { bytes } = frame;
  const update = memberAt(bytes, frame.body, 'update');
  if (!update) return pass([]);
  switch (kind) {
    case 'config_option_update':
      session.options.readList(bytes, update);
      return pass(withOurOptions(proxy, session, bytes, update));
    case 'available_commands_update': {
      const list = member(bytes, update.start, 'availableCommands');
      const names = list ? elements(bytes, list.start).map((entry) => stringAt(bytes, member(bytes, entry.start, 'name'))) : [];
      session.options.readCommands(names);
      if (session.options.hasAgentCommand) return pass([]);
      return pass([inserted(bytes, update, 'availableCommands', JSON.stringify(agentCommand(proxy.pool.choice.agents)))]);
    }
    case 'current_mode_update': {
      pass([]);
      const mode = stringAt(bytes, member(bytes, update.start, 'currentModeId'));
      if (mode !== undefined) modeChanged(proxy, session, mode);
      return;
    }
    case 'subagent_update':
      return pass(nestedIds(proxy, session, bytes, update, ['sessionId']));
    case 'session_message':
      return pass(nestedIds(proxy, session, bytes, update, ['senderSessionId', 'recipientSessionId']));
    default:
      return pass([]);
  }
}

/** Updates the option that represents the agent's modes. */
export function modeChanged(proxy: Parts<'pool' | 'client'>, session: Session, modeId: string): void {
  const { modes, own } = session.options.agent;
  if (!modes || modes.currentModeId === modeId) return;
  session.options.setMode(modeId);
  if (own === undefined) announceOptions(proxy, session);
}

/** Likewise for the agent's models. */
export function modelChanged(proxy: Parts<'pool' | 'client'>, session: Session, modelId: string): void {
  const { models, own } = session.options.agent;
  if (!models || models.currentModelId === modelId) return;
  session.options.setModel(modelId);
  if (own === undefined) announceOptions(proxy, session);
}

/** Records what the client has set, for an agent that does not keep a session before its first prompt. */
export function keepSetting(proxy: Parts<'context'>, session: Session, { options, ...rest }: SessionSettings): void {
  if (session.state.kind !== 'open' || session.agentLocked) return;
  const before = session.settings;
  const settings = { ...before, ...rest, ...(options && { options: { ...before?.options, ...options } }) };
  if (!areSettings(settings) || isDeepStrictEqual(before, settings)) return;
  session.settings = settings;
  record(proxy, session);
}

/** Sets the same again in a session that was opened anew. What the agent or the policy refuses stays as the client was told. */
export function restoreSettings(proxy: Parts<'context' | 'pool' | 'client'>, session: Session): void {
  const { agent, nativeId: sessionId, settings } = session;
  if (!settings) return;
  const set = (method: string, change: object, done: (answer: Frame) => void) => {
    const params = JSON.stringify({ sessionId, ...change });
    const line = Buffer.from(requestLine('0', method, params));
    const request = strictParse(line, 0, line.length - 1);
    if ('why' in request || proxy.context.enforcement?.refusesChange(method, session, request)) return;
    agent.request(method, params, {
      session,
      onFail: () => {},
      onAnswer(answer) {
        if (session.agent === agent && session.nativeId === sessionId && answer.outcome === 'result') done(answer);
      },
    });
  };
  const { mode: modeId, model: modelId, options = {} } = settings;
  if (modelId !== undefined) set('session/set_model', { modelId }, () => modelChanged(proxy, session, modelId));
  if (modeId !== undefined)
    set('session/set_mode', { modeId }, () => {
      if (session.options.agent.modes?.currentModeId === modeId) return; // the agent has reported it
      proxy.client.line(updateLine(session.publicId, JSON.stringify({ sessionUpdate: 'current_mode_update', currentModeId: modeId })));
      modeChanged(proxy, session, modeId);
    });
  for (const [configId, value] of Object.entries(options))
    set('session/set_config_option', { configId, ...(typeof value === 'boolean' && { type: 'boolean' }), value }, (answer) => {
      if (answer.body) session.options.readList(answer.bytes, answer.body);
      announceOptions(proxy, session);
    });
}

/** Translates the session ids inside an update to public ids. */
function nestedIds(proxy: Parts<'registry'>, session: Session, bytes: Buffer, update: Span, keys: readonly string[]): Patch[] {
  // Every occurrence, also of a duplicate key: the client may read either.
  const named = members(bytes, update.start).filter(({ key }) => keys.includes(key));
  return named.flatMap(({ value: span }) => {
    const nativeId = stringAt(bytes, span);
    if (nativeId === undefined) return [];
    const { publicId } = proxy.registry.adopt(session.agent, nativeId, session.cwd);
    return publicId === nativeId ? [] : [{ span, text: JSON.stringify(publicId) }];
  });
}
