// What every step of the tour has at hand: the page, the editor's sessions and what is said in them, and our own commands.
import { execFile } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { promisify } from 'node:util';
import {
  type InitializeResponse,
  methods,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { META_KEY } from '../../acp/shapes.ts';
import { CommandFailure } from '../failure.ts';
import { type ClientEvents, COMMAND_FILE, type Editor } from './client.ts';
import type { Page } from './page.ts';

export type Place = {
  readonly project: string;
  readonly policy: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
};

export type Stage = ReturnType<typeof createStage>;

/** What the editor gets to hear, until the stage that shows it is there. */
export type Ears = ClientEvents & { listen(to: Partial<ClientEvents>): void };

export function createEars(): Ears {
  let listener: Partial<ClientEvents> = {};
  return {
    update: (notification) => listener.update?.(notification),
    permission: (request) => listener.permission?.(request) ?? { outcome: { outcome: 'cancelled' } },
    listen(to) {
      listener = to;
    },
  };
}

export function createStage(page: Page, editor: Editor, ears: Ears, { project, policy, env, signal }: Place) {
  const agentOf = new Map<string, string>();
  const sessionOf = new Map<string, string>();
  const words = new Map<string, string>();
  const chunks = new EventEmitter();
  const asked: RequestPermissionRequest[] = [];
  let answer: string | undefined;
  let show: (agent: string, update: SessionUpdate) => void = () => {};

  function update({ sessionId, update }: SessionNotification): void {
    const agent = agentOf.get(sessionId);
    if (agent === undefined) return;
    if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text') {
      words.set(agent, (words.get(agent) ?? '') + update.content.text);
      chunks.emit(agent);
    }
    show(agent, update);
  }

  function permission(request: RequestPermissionRequest): RequestPermissionResponse {
    asked.push(request);
    const { toolCall, options } = request;
    page.line('asks you', `${toolCall.title}   (${options.map(({ name }) => name).join(', ')})`);
    const chosen = options.find(({ name }) => name === answer);
    if (!chosen) return { outcome: { outcome: 'cancelled' } };
    page.line('you', chosen.name);
    return { outcome: { outcome: 'selected', optionId: chosen.optionId } };
  }
  ears.listen({ update, permission });

  return {
    page,
    editor,
    project,
    policy,
    /** The permission questions that reached the editor. */
    asked,

    initialize: (): Promise<InitializeResponse> =>
      editor.agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
      }),

    /** A session on the default agent, or on the one asked for. */
    async open(name: string, isAskedFor: boolean): Promise<NewSessionResponse> {
      const meta = isAskedFor && { _meta: { [META_KEY]: { agent: name } } };
      const opened = await editor.agent.request(methods.agent.session.new, { cwd: project, mcpServers: [], ...meta });
      agentOf.set(opened.sessionId, name);
      sessionOf.set(name, opened.sessionId);
      return opened;
    },

    session: (agent: string): string => sessionOf.get(agent) ?? '',

    /** A turn to its end; resolves to what the agent has said in it. */
    async prompt(agent: string, text: string): Promise<string> {
      words.delete(agent);
      const sessionId = sessionOf.get(agent) ?? '';
      const { stopReason } = await editor.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
      expect(stopReason === 'end_turn', `expected stop reason end_turn, got ${stopReason}`);
      return words.get(agent) ?? '';
    },

    /** Which button the person at the editor will press, by its name. */
    willAnswer(name: string): void {
      answer = name;
    },

    /** Resolves when the agent has said something more. */
    spoke: (agent: string): Promise<unknown> => once(chunks, agent, { signal }),

    /** What is shown of all that agents send, from here on. */
    showing(what: (agent: string, update: SessionUpdate) => void): void {
      show = what;
    },

    /** One of our own commands, as a user would type it while the editor runs; resolves to what it prints. */
    async switchboard(...line: string[]): Promise<string> {
      const { stdout } = await promisify(execFile)(process.execPath, [COMMAND_FILE, ...line], { cwd: project, env, signal });
      return stdout;
    },
  };
}

/** Nothing is shown that has not happened: where something does not hold, the tour stops and says so. */
export function expect(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new CommandFailure(1, `the tour failed: ${otherwise}`);
}
