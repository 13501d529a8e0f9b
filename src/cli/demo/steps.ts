// The steps of the guided tour after the first turn, each with the real proxy and the embedded agents.
import { type InitializeResponse, type NewSessionResponse, RequestError } from '@agentclientprotocol/sdk';
import { META_KEY } from '../../acp/shapes.ts';
import { processTree, stillAlive } from './process-tree.ts';
import { expect, type Stage } from './stage.ts';

type Self = { readonly pid: number; readonly sessionId: string; readonly turns: number };

/** Kills an agent in mid-turn. The other agent is not affected, and the first resumes its session. */
export async function crash(stage: Stage): Promise<void> {
  const { page } = stage;
  page.heading('An agent crashes in the middle of a turn');
  const whoAmI = async () => JSON.parse(await stage.prompt('builder', '/whoami')) as Self;
  const before = await whoAmI();

  const isTalking = stage.spoke('builder');
  const [outcome, output] = await Promise.all([
    stage.prompt('builder', '/slow 60').catch((error: unknown) => error),
    stage.prompt('sketcher', '/slow 0.5'),
    isTalking.then(() => {
      page.line('kill -9', `process ${before.pid}, which is builder`);
      process.kill(before.pid, 'SIGKILL');
    }),
  ]);
  expect(outcome instanceof RequestError, 'the open turn should fail with an error');
  page.line('error', outcome.message);
  const pieces = output.trim().split('\n');
  expect(pieces.at(-1) === 'Done.', 'the other agent should finish its turn');
  page.line('sketcher', `kept streaming: ${pieces.length} chunks, none lost`);

  const after = await whoAmI();
  expect(after.pid !== before.pid, 'the agent should run in a new process');
  expect(after.sessionId === before.sessionId && after.turns > before.turns, 'the session should continue');
  page.line('builder', `next prompt: process ${after.pid}, the same session, turn ${after.turns}`);
}

// A host tool for every agent: here `ask_question`, for an agent that has no such tool.
export async function hostTool(stage: Stage): Promise<void> {
  const { page, permissionRequests } = stage;
  page.heading('Host tools for every agent, over MCP');
  const call = { question: 'Which colour should the shed have?', choices: ['Green', 'Red'] };
  page.line('sketcher', 'calls the host tool ask_question');
  stage.willAnswer('Green');
  const before = permissionRequests.length;
  const answer = await stage.prompt('sketcher', `/call switchboard ask_question ${JSON.stringify(call)}`);
  page.line('sketcher', `got the answer: ${answer.trim()}`);
  expect(permissionRequests.length === before + 1, 'the question should reach the editor');
  expect(answer.includes('answered: Green'), 'the answer should reach the agent');
}

// Reads the records with our own commands after everything has ended. None of them contains the secret of the first step.
const BEFORE_THE_CRASH = 1;
const AFTER_IT = 4;

export async function records(stage: Stage, secret: string): Promise<void> {
  const { page } = stage;
  page.heading('Everything is logged, without secrets');
  const [log, transcript, audit] = await Promise.all([
    stage.switchboard('logs', 'agent:builder'),
    stage.switchboard('sessions', 'show', stage.session('builder')),
    stage.switchboard('audit', 'verify'),
  ]);
  expect(![log, transcript, audit].some((text) => text.includes(secret)), 'the secret should not appear anywhere');
  const frames = log.split('\n');
  const crash = frames.findIndex((line) => line.includes('down: '));
  expect(crash >= BEFORE_THE_CRASH, 'the log should contain the crash');
  for (const line of frames.slice(crash - BEFORE_THE_CRASH, crash + AFTER_IT)) page.line('logs', shortened(line));

  const [, prompted = ''] = /^\[Prompt\]\n(.*)/m.exec(transcript) ?? [];
  expect(prompted.includes('[redacted:'), 'the prompt should appear, redacted');
  page.line('sessions', `your prompt: ${prompted}`);
  const [, decisions] = /^intact: .*\((\d+ decisions)\)/.exec(audit) ?? [];
  expect(decisions !== undefined, 'the audit log should be intact');
  page.line('audit', `intact: ${decisions} in a hash chain`);
}

/** Without date, session id, size and column padding. */
const shortened = (line: string) =>
  line
    .slice(line.indexOf(' ') + 1)
    .replace(/(?: {2}session \S+)?(?: {2}\d+ B)?$/, '')
    .replaceAll(/ {2,}/g, '  ');

// The client disconnects, and everything it started ends.
export async function theEnd({ page, editor }: Stage): Promise<void> {
  page.heading('The editor quits: stdin closes');
  const processes = await processTree(editor.pid);
  const startedAt = performance.now();
  const code = await editor.stop();
  expect(code === 0, code === null ? 'switchboard acp did not exit' : `switchboard acp exited with code ${code}`);
  const ms = Math.round(performance.now() - startedAt);
  if (!processes) return page.line('ended', `exit code 0 after ${ms} ms`);
  const left = stillAlive(processes);
  page.line('before', `${processes.length} processes: switchboard, its agents and their children`);
  page.line('after', `exit code 0 after ${ms} ms, processes left: ${left.length || 'none'}`);
  expect(left.length === 0, `these processes are still running: ${left.join(', ')}`);
}

// One connection, a session on each agent, both working at the same time.
export async function twoAgents(stage: Stage, secret: string): Promise<void> {
  const { page } = stage;
  page.heading('Two agents in one connection');
  page.line('agents', agentNames(await stage.initialize()).join(', '));
  for (const [name, isAskedFor] of [
    ['sketcher', false],
    ['builder', true],
  ] as const) {
    const { current, shown } = agentOption(await stage.open(name, isAskedFor));
    expect(current === name, `expected a session of ${name}, got one of ${current}`);
    page.line('session', `${isAskedFor ? 'selected by the editor:  ' : 'the default agent:       '} ${shown}`);
  }

  stage.showing((agent, update) => {
    if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text') page.line(agent, update.content.text.trim());
  });
  const [sketcher, builder] = await Promise.all([
    stage.prompt('sketcher', 'How does one start a garden shed?'),
    stage.prompt('builder', `Use ${secret} to deploy it`),
  ]);
  stage.showing(() => {});
  expect(sketcher.startsWith('Sketcher here.'), 'Sketcher did not answer in its own session');
  expect(builder.startsWith('Builder here.'), 'Builder did not answer in its own session');
}

function agentNames({ agentCapabilities }: InitializeResponse): string[] {
  const { agents = {} } = (agentCapabilities?._meta?.[META_KEY] ?? {}) as { agents?: Record<string, { title: string; version?: string }> };
  const names = Object.values(agents).map(({ title, version }) => `${title} ${version ?? ''}`.trim());
  expect(names.length === 2, `expected 2 agents, got ${names.length}`);
  return names;
}

/** The config option that selects a session's agent, as a client may show it. */
function agentOption({ configOptions }: NewSessionResponse): { current: string | undefined; shown: string } {
  const option = configOptions?.find(({ category }) => category === '_agent');
  if (option?.type !== 'select') return { current: undefined, shown: 'missing' };
  const names = option.options.flatMap((choice) => ('value' in choice ? [choice] : choice.options));
  const shown = names.map(({ value, name }) => (value === option.currentValue ? `[${name}]` : ` ${name} `)).join(' ');
  return { current: option.currentValue, shown: shown.trimEnd() };
}
