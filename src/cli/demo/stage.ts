// Helpers for every step of the tour: the page, the client's sessions and their messages, and our own commands.
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
import { ownCommand } from '../../app/package-files.ts';
import { CommandFailure } from '../failure.ts';
import type { ClientEvents, Editor } from './client.ts';
import type { Page } from './page.ts';

export type Place = {
  readonly project: string;
  readonly policy: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
};

export type Stage = ReturnType<typeof createStage>;

/** The client's events, until a stage listens to them. */
export type ClientListener = ClientEvents & { listen(to: Partial<ClientEvents>): void };

export function createClientListener(): ClientListener {
  let listener: Partial<ClientEvents> = {};
  return {
    update: (notification) => listener.update?.(notification),
    permission: (request) => listener.permission?.(request) ?? { outcome: { outcome: 'cancelled' } },
    listen(to) {
      listener = to;
    },
  };
}

export function createStage(page: Page, editor: Editor, listener: ClientListener, { project, policy, env, signal }: Place) {
  const agentOf = new Map<string, string>();
  const sessionOf = new Map<string, string>();
  const words = new Map<string, string>();
  const chunks = new EventEmitter();
  const permissionRequests: RequestPermissionRequest[] = [];
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
    permissionRequests.push(request);
    const { toolCall, options } = request;
    page.line('asks you', `${toolCall.title}   (${options.map(({ name }) => name).join(', ')})`);
    const chosen = options.find(({ name }) => name === answer);
    if (!chosen) return { outcome: { outcome: 'cancelled' } };
    page.line('you', chosen.name);
    return { outcome: { outcome: 'selected', optionId: chosen.optionId } };
  }
  listener.listen({ update, permission });

  return {
    page,
    editor,
    project,
    policy,
    /** The permission requests that reached the client. */
    permissionRequests,

    initialize: (): Promise<InitializeResponse> =>
      editor.agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
      }),

    /** Opens a session on the default agent, or on the requested one. */
    async open(name: string, isAskedFor: boolean): Promise<NewSessionResponse> {
      const meta = isAskedFor && { _meta: { [META_KEY]: { agent: name } } };
      const opened = await editor.agent.request(methods.agent.session.new, { cwd: project, mcpServers: [], ...meta });
      agentOf.set(opened.sessionId, name);
      sessionOf.set(name, opened.sessionId);
      return opened;
    },

    session: (agent: string): string => sessionOf.get(agent) ?? '',

    /** Runs a turn to its end; resolves to the agent's messages. */
    async prompt(agent: string, text: string): Promise<string> {
      words.delete(agent);
      const sessionId = sessionOf.get(agent) ?? '';
      const { stopReason } = await editor.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
      expect(stopReason === 'end_turn', `expected stop reason end_turn, got ${stopReason}`);
      return words.get(agent) ?? '';
    },

    /** Chooses the option, by name, for the next permission request. */
    willAnswer(name: string): void {
      answer = name;
    },

    /** Resolves at the agent's next message. */
    spoke: (agent: string): Promise<unknown> => once(chunks, agent, { signal }),

    /** Sets what is shown of the agents' updates from now on. */
    showing(what: (agent: string, update: SessionUpdate) => void): void {
      show = what;
    },

    /** Runs one of our own commands while the client is connected; resolves to its output. */
    async switchboard(...line: string[]): Promise<string> {
      const own = ownCommand(...line);
      const { stdout } = await promisify(execFile)(own.command, own.args, { cwd: project, env, signal });
      return stdout;
    },
  };
}

/** Shows only what happened: if an expectation fails, the tour stops and reports it. */
export function expect(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new CommandFailure(1, `the tour failed: ${otherwise}`);
}
