// Modes and options in which agents stop asking, shaped like the answers of real agents: known ones are refused, the user is asked about others whose
// description says so.
import { describe, expect, test } from 'vitest';
import { knownAgent } from '../../../src/agents/asking.ts';
import { bundledCatalogue } from '../../../src/app/package-files.ts';
import { type Json, open } from '../../e2e/harness.ts';
import { selected } from '../../e2e/policy-support.ts';
import { type Actor, CWD } from '../actors.ts';
import { type PolicyOptions, type UnderPolicy, underPolicy } from './support.ts';

/** As the catalogue knows the agent that this command starts. */
const as = (command: string): Pick<PolicyOptions, 'askingOf'> => {
  const asks = knownAgent(bundledCatalogue(), { command, args: [] })?.asks;
  if (!asks) throw new Error(`the catalogue does not know ${command}`);
  return { askingOf: () => asks };
};
const select = (id: string, currentValue: string, values: Json, category = 'mode'): Json => ({
  ...{ id, name: id, category, type: 'select', currentValue },
  options: Object.entries(values).map(([value, description]) => ({ value, name: value, description })),
});
const modesOf = (currentModeId: string, described: Json): Json => ({
  currentModeId,
  availableModes: Object.entries(described).map(([id, description]) => ({ id, name: id, description })),
});

// Seen from claude-agent-acp 0.99.1, codex-acp 2.6.0 and copilot 1.0.102. Of Zed's codex-acp and of cline only the ids are known; the rest of
// CODEX_ZED and CLINE is made up.
const CLAUDE = modesOf('default', {
  default: 'Always ask before making changes',
  acceptEdits: 'Automatically accept all file edits',
  plan: 'Create a plan before making changes',
  auto: 'Claude handles permission decisions',
});
const CODEX = modesOf('agent', {
  'read-only': 'Requires approval to edit files and access the internet.',
  'workspace-write': 'Edit workspace files; ask before writing outside the workspace or accessing the network.',
  agent: 'Only ask for actions detected as potentially unsafe',
  'agent-full-access': 'Unrestricted access to the internet and any file on your computer',
});
const CODEX_ZED = modesOf('auto', {
  'read-only': 'Codex can read files in the current workspace.',
  auto: 'Codex can read and edit files in the current workspace, and run commands.',
  'full-access': 'Codex can edit files outside this workspace and run commands with network access.',
});
const COPILOT = select(
  'allow_all',
  'off',
  { on: 'Automatically approve all tool, path, and URL requests', off: 'Require approval for tool, path, and URL requests' },
  'permissions',
);
const CLINE: Json = { id: 'auto_approve', name: 'Auto-approve', type: 'boolean', currentValue: false };

const opening = (described: Json) => (agent: Actor) => {
  let n = 0;
  agent.on('session/new', () => ({ sessionId: `s${++n}`, ...described }));
  agent.on('session/set_mode', () => ({}));
  agent.on('session/set_config_option', ({ configId, value }: Json) => ({
    configOptions: (described.configOptions ?? []).map((one: Json) => (one.id === configId ? { ...one, currentValue: value } : one)),
  }));
};
const modesIn = (result: Json) => result.modes.availableModes.map(({ id }: Json) => id);
const setMode = ({ client, id }: UnderPolicy, modeId: string) => client.request('session/set_mode', { sessionId: id, modeId });
const setOption = ({ client, id }: UnderPolicy, configId: string, value: unknown) =>
  client.request('session/set_config_option', { sessionId: id, configId, value });

describe('what a known agent stops asking in is neither offered nor accepted', () => {
  test('claude: auto', async () => {
    const all = await underPolicy({}, { prepare: opening({ modes: CLAUDE }), ...as('claude-agent-acp') });
    expect(modesIn((await open(all.client, CWD)).result)).toEqual(['default', 'acceptEdits', 'plan']);
    expect((await setMode(all, 'auto')).error.message).toContain('Mode "auto" of agent "agent" is not allowed');
    expect(all.agent.all('session/set_mode')).toEqual([]);
    expect(all.entries.at(-1)).toMatchObject({ summary: 'mode: auto', verdict: 'deny', outcome: 'prevented' });
  });

  test('codex starts in such a mode, and is moved to the one in which it asks', async () => {
    const all = await underPolicy({}, { prepare: opening({ modes: CODEX }), ...as('codex-acp') });
    const { result } = await open(all.client, CWD);
    expect([modesIn(result), result.modes.currentModeId]).toEqual([['read-only', 'workspace-write'], 'read-only']);
    expect(all.entries[0]).toMatchObject({ summary: 'mode: agent', outcome: 'prevented', option: 'moved' });
  });

  test('codex by Zed: full-access; its default, in which it asks for less, is left too', async () => {
    const all = await underPolicy({}, { prepare: opening({ modes: CODEX_ZED }), ...as('codex-acp') });
    const { result } = await open(all.client, CWD);
    expect([modesIn(result), result.modes.currentModeId]).toEqual([['read-only', 'auto'], 'read-only']);
    expect((await setMode(all, 'full-access')).error.code).toBe(-32602);
  });

  test('copilot: allow_all=on', async () => {
    const all = await underPolicy({}, { prepare: opening({ configOptions: [COPILOT] }), ...as('copilot') });
    const { result } = await open(all.client, CWD);
    expect(result.configOptions).toEqual([{ ...COPILOT, options: [COPILOT.options[1]] }]);
    expect((await setOption(all, 'allow_all', 'on')).error.message).toContain('Mode "allow_all=on"');
    expect((await setOption(all, 'allow_all', 'off')).result).toBeDefined();
    expect(all.entries).toMatchObject([
      { summary: 'mode: allow_all=on', outcome: 'prevented' },
      { summary: 'mode: allow_all=off', outcome: 'allowed' },
    ]);
  });

  test('cline: auto_approve=true, a switch that is then not shown', async () => {
    const other = { id: 'fast', name: 'Fast', type: 'boolean', currentValue: false };
    const all = await underPolicy({}, { prepare: opening({ configOptions: [CLINE, other] }), ...as('cline') });
    const { result } = await open(all.client, CWD);
    expect(result.configOptions).toEqual([other]);
    expect((await setOption(all, 'auto_approve', true)).error.message).toContain('Mode "auto_approve=true"');
    expect((await setOption(all, 'fast', true)).result).toBeDefined();
    expect(all.entries).toHaveLength(1);
  });

  test('a switch that is on at the start is turned off first', async () => {
    const all = await underPolicy({}, { prepare: opening({ configOptions: [{ ...CLINE, currentValue: true }] }), ...as('cline') });
    expect((await open(all.client, CWD)).result.configOptions).toEqual([]);
    const [first] = all.agent.all('session/set_config_option');
    expect(first?.msg.params).toMatchObject({ configId: 'auto_approve', type: 'boolean', value: false });
  });

  test('unless the policy pins the mode or a rule allows it', async () => {
    const allowed = { allow: [{ action: 'mode', tool: ['agent', 'allow_all=on'] }] };
    const all = await underPolicy(allowed, { prepare: opening({ modes: CODEX, configOptions: [COPILOT] }), ...as('codex-acp') });
    expect((await open(all.client, CWD)).result.modes.currentModeId).toBe('agent');
    const pinned = { agents: { agent: { mode: { pin: ['auto', 'default'] } } } };
    const other = await underPolicy(pinned, { prepare: opening({ modes: CLAUDE }), ...as('claude-agent-acp') });
    expect((await setMode(other, 'auto')).result).toEqual({});
  });

  test('and nothing is held while the policy only observes', async () => {
    const all = await underPolicy({}, { prepare: opening({ modes: CODEX }), ...as('codex-acp'), isObserving: true });
    expect((await open(all.client, CWD)).result.modes).toEqual(CODEX);
    expect((await setMode(all, 'agent-full-access')).result).toEqual({});
  });
});

describe('the user is asked about a mode whose description says that the agent asks for less', () => {
  const UNKNOWN = { modes: CLAUDE, configOptions: [COPILOT, { ...CLINE, id: 'hands_free', description: 'Run tools without asking' }] };

  test('and it is set when the user agrees, once for the session', async () => {
    const all = await underPolicy({}, { prepare: opening(UNKNOWN) });
    expect(modesIn((await open(all.client, CWD)).result)).toContain('acceptEdits');
    expect((await setMode(all, 'acceptEdits')).result).toEqual({});
    expect((await setMode(all, 'acceptEdits')).result).toEqual({});
    const requests = all.client.all('session/request_permission').map(({ msg }) => msg.params.toolCall);
    expect(requests).toMatchObject([{ kind: 'switch_mode', title: expect.stringContaining('"acceptEdits"') }]);
    expect(all.entries).toMatchObject([{ summary: 'mode: acceptEdits', verdict: 'ask', answeredBy: 'user', outcome: 'allowed' }]);
  });

  test.each([
    ['allow_all', 'on'],
    ['hands_free', true],
  ])('or an option: %s=%s, refused by the user', async (configId, value) => {
    const all = await underPolicy({}, { prepare: opening(UNKNOWN) });
    all.client.on('session/request_permission', () => selected('reject'));
    expect((await setOption(all, configId, value)).error.message).toContain('the user did not confirm it');
    expect(all.agent.all('session/set_config_option')).toEqual([]);
    expect(all.entries.at(-1)).toMatchObject({ summary: `mode: ${configId}=${value}`, outcome: 'prevented' });
  });

  test('and it is refused where nobody can be asked', async () => {
    const all = await underPolicy({}, { prepare: opening(UNKNOWN), isInteractive: false });
    expect((await setMode(all, 'acceptEdits')).error.message).toContain('the agent may act without asking in it');
  });

  test('and when the agent takes it by itself, the session says so', async () => {
    const all = await underPolicy({}, { prepare: opening(UNKNOWN) });
    const update = { sessionUpdate: 'current_mode_update', currentModeId: 'acceptEdits' };
    for (let n = 0; n < 2; n++) all.agent.notify('session/update', { sessionId: all.id, update });
    await all.settled();
    expect(all.entries).toMatchObject([{ summary: 'mode: acceptEdits', outcome: 'unasked' }]);
  });
});

test('an agent that nothing makes ask, as pi, gets its session told so once, when it first acts', async () => {
  const all = await underPolicy({}, { ...as('pi-acp') });
  for (const toolCallId of ['a', 'b']) {
    const update = { sessionUpdate: 'tool_call', toolCallId, title: 'Read', kind: 'read', status: 'pending' };
    all.agent.notify('session/update', { sessionId: all.id, update });
  }
  await all.settled();
  expect(all.notices.filter((text) => text.includes('never asks for permission'))).toHaveLength(1);
});
