// A session under a policy, with what policy tests inspect.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Client, type Json, open, type ScriptedAgent, type Stage, type StartOptions } from './harness.ts';

export const OPTIONS = [
  { optionId: 'a1', name: 'Yes', kind: 'allow_once' },
  { optionId: 'aa', name: 'Yes, always', kind: 'allow_always' },
  { optionId: 'r1', name: 'No', kind: 'reject_once' },
];

export const selected = (optionId: string): Json => ({ outcome: { outcome: 'selected', optionId } });

export type PolicySession = {
  readonly client: Client;
  readonly agent: ScriptedAgent;
  readonly id: string;
  readonly ask: (command: string, more?: Json) => Promise<Json>;
};

/** One agent and one session under this policy. The client allows everything once. */
export async function underPolicy(
  stage: Stage,
  policy: Json,
  options: StartOptions = {},
  agent: ScriptedAgent = stage.agent('agent'),
): Promise<PolicySession> {
  const client = await stage.connect([agent], { ...options, config: { policy: { version: 1, ...policy }, ...options.config } });
  client.on('session/request_permission', (params: Json) =>
    selected(params.options.find(({ kind }: Json) => kind === 'allow_once').optionId),
  );
  const { id } = await open(client, stage.cwd);
  return { client, agent, id, ask: (command, more) => agent.call('session/request_permission', execution(id, command, more)) };
}

let calls = 0;

/** A permission request to run a command. */
export const execution = (sessionId: string, command: string, more: Json = {}): Json => ({
  sessionId,
  toolCall: { toolCallId: `call-${calls++}`, title: command, kind: 'execute', rawInput: { command } },
  options: OPTIONS,
  ...more,
});

export const audit = (stage: Stage): readonly Json[] =>
  readFileSync(path.join(stage.state, 'audit.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** A scripted agent is driven over a unix socket, which the sandbox of a preset refuses. */
export const UNCONTAINED = { config: { sandbox: 'off' } };
