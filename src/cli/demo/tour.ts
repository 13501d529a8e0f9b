// The tour, step by step, as an editor lives it. Nothing is staged: every line is printed from what came over the wire, and checked.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type InitializeResponse,
  methods,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
} from '@agentclientprotocol/sdk';
import { META_KEY } from '../../acp/shapes.ts';
import { CommandFailure } from '../command-failure.ts';
import type { Editor, EditorEvents } from './editor.ts';
import type { Page } from './page.ts';
import { processTree, stillAlive } from './process-tree.ts';

const NOTES = 'notes.txt';

export type Tour = {
  readonly events: EditorEvents;
  walk(editor: Editor): Promise<void>;
};

export function createTour(page: Page, folder: string): Tour {
  const agentOf = new Map<string, string>();
  const spoken = new Map<string, string>();
  const asked: RequestPermissionRequest[] = [];
  let isStreaming = true;
  const notes = path.join(folder, NOTES);

  function update({ sessionId, update }: SessionNotification): void {
    const agent = agentOf.get(sessionId);
    if (agent === undefined) return;
    if (update.sessionUpdate !== 'agent_message_chunk' && update.sessionUpdate !== 'agent_thought_chunk') return;
    if (update.content.type !== 'text') return;
    const { text } = update.content;
    if (update.sessionUpdate === 'agent_thought_chunk') return page.line(agent, `(thinks) ${text.trim()}`);
    spoken.set(agent, (spoken.get(agent) ?? '') + text);
    if (isStreaming) page.line(agent, text.trim());
  }

  function permission(request: RequestPermissionRequest): RequestPermissionResponse {
    asked.push(request);
    const { toolCall, options } = request;
    page.line(agentOf.get(request.sessionId) ?? 'an agent', `asks: ${toolCall.title}?`);
    for (const content of toolCall.content ?? []) if (content.type === 'diff') showDiff(page, content.oldText ?? '', content.newText);
    const chosen = options.find(({ kind }) => kind === 'allow_once');
    if (!chosen) return { outcome: { outcome: 'cancelled' } };
    page.line('editor', `answers: ${chosen.name} (of ${options.map(({ name }) => name).join(', ')})`);
    return { outcome: { outcome: 'selected', optionId: chosen.optionId } };
  }

  async function openSession({ agent }: Editor, name: string, asking: boolean): Promise<string> {
    const opened = await agent.request(methods.agent.session.new, {
      cwd: folder,
      mcpServers: [],
      ...(asking && { _meta: { [META_KEY]: { agent: name } } }),
    });
    const { current, shown } = agentOption(opened);
    expect(current === name, `the session should be ${name}'s and is ${current}'s`);
    agentOf.set(opened.sessionId, name);
    page.line(name, `${asking ? 'asked for by _meta:' : 'the default agent: '}  config option "agent" is ${shown}`);
    return opened.sessionId;
  }

  async function prompt({ agent }: Editor, sessionId: string, text: string): Promise<void> {
    const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
    expect(stopReason === 'end_turn', `the turn should end with end_turn and ended with ${stopReason}`);
  }

  return {
    events: { update, permission },
    async walk(editor) {
      page.heading('initialize: one connection, and what both agents can do together');
      const initialized = await editor.agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
      });
      showCapabilities(page, initialized);

      page.heading('session/new: a session on each agent');
      const sketching = await openSession(editor, 'sketcher', false);
      const building = await openSession(editor, 'builder', true);

      page.heading('session/prompt: both at once, the answers as they stream in');
      await Promise.all([
        prompt(editor, sketching, 'How does one start a garden shed?'),
        prompt(editor, building, 'What goes into a garden shed?'),
      ]);
      for (const title of ['Sketcher', 'Builder'])
        expect(spoken.get(title.toLowerCase())?.startsWith(`${title} here.`) === true, `${title} did not answer in its own session`);

      page.heading('session/request_permission: an agent wants to change a file');
      isStreaming = false; // one agent alone: its words are easier to read in one piece
      spoken.clear();
      await writeFile(notes, 'Garden shed\n');
      await prompt(editor, building, `/edit ${NOTES}`);
      page.line('builder', spoken.get('builder') ?? '');
      expect(asked.length === 1, `one permission question was expected, and ${asked.length} came`);
      const written = (await readFile(notes, 'utf8')).trimEnd().split('\n');
      expect(written.length === 2, `${NOTES} should have two lines now and has ${written.length}`);
      page.line('on disk', `${NOTES}, written through fs/write_text_file: ${written.map((line) => JSON.stringify(line)).join(', ')}`);

      page.heading('session/list: the sessions of all agents in one list');
      await showSessions(page, editor, [sketching, building]);

      page.heading('the editor goes: stdin is closed');
      await showStop(page, editor);
    },
  };
}

function showCapabilities(page: Page, { agentCapabilities = {} }: InitializeResponse): void {
  const { loadSession, sessionCapabilities = {}, promptCapabilities = {}, _meta } = agentCapabilities;
  const { agents = {} } = (_meta?.[META_KEY] ?? {}) as { agents?: Record<string, { title: string; version?: string }> };
  const names = Object.values(agents).map(({ title, version }) => `${title} ${version ?? ''}`.trim());
  expect(names.length === 2, `two agents should answer, and ${names.length} did`);
  const offered = (group: object) => Object.entries(group).flatMap(([key, value]) => (value && key !== '_meta' ? [key] : []));
  page.line('agents', names.join(', '));
  page.line('sessions', ['new', ...(loadSession ? ['load'] : []), ...offered(sessionCapabilities)].join(', '));
  const lacking = promptCapabilities.image ? '' : ' (no image: one of the two takes none)';
  page.line('prompts', `${['text', 'links', ...offered(promptCapabilities)].join(', ')}${lacking}`);
}

function agentOption({ configOptions }: NewSessionResponse): { current: string | undefined; shown: string } {
  const option = configOptions?.find(({ category }) => category === '_agent');
  if (option?.type !== 'select') return { current: undefined, shown: 'missing' };
  const names = option.options.flatMap((choice) => ('value' in choice ? [choice] : choice.options));
  const shown = names.map(({ value, name }) => (value === option.currentValue ? `[${name}]` : name)).join(' ');
  return { current: option.currentValue, shown };
}

/** Enough of a diff for texts that differ in one place. */
function showDiff(page: Page, oldText: string, newText: string): void {
  const [before, after] = [oldText, newText].map((text) => text.replace(/\n$/, '').split('\n')) as [string[], string[]];
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  for (const line of before.slice(0, same)) page.diff(' ', line);
  for (const line of before.slice(same)) page.diff('-', line);
  for (const line of after.slice(same)) page.diff('+', line);
}

async function showSessions(page: Page, { agent }: Editor, ours: readonly string[]): Promise<void> {
  const { sessions } = await agent.request(methods.agent.session.list, {});
  for (const { sessionId, title, _meta } of sessions) {
    const owner = (_meta?.[META_KEY] as { agent?: string } | undefined)?.agent ?? 'unknown';
    page.line(owner, `${JSON.stringify(title)}  ${sessionId}`);
  }
  const found = sessions.map(({ sessionId }) => sessionId);
  expect(found.length === ours.length && ours.every((id) => found.includes(id)), 'the list is not that of the two sessions');
}

async function showStop(page: Page, editor: Editor): Promise<void> {
  const processes = await processTree(editor.pid);
  const startedAt = performance.now();
  const code = await editor.stop();
  expect(code === 0, code === null ? 'switchboard acp did not end by itself' : `switchboard acp ended with exit code ${code}`);
  const ms = Math.round(performance.now() - startedAt);
  if (!processes) return page.line('ended', `exit code 0 after ${ms} ms`);
  const left = stillAlive(processes);
  page.line('before', `${processes.length} processes: switchboard, its agents and what they have started`);
  page.line('after', `exit code 0 after ${ms} ms, processes left: ${left.length || 'none'}`);
  expect(left.length === 0, `these processes are still there: ${left.join(', ')}`);
}

function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new CommandFailure(1, `the tour stops here: ${otherwise}`);
}
