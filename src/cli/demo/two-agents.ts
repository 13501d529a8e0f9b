// One connection, a session on each agent, both at work at the same time.
import type { InitializeResponse, NewSessionResponse } from '@agentclientprotocol/sdk';
import { META_KEY } from '../../acp/shapes.ts';
import { expect, type Stage } from './stage.ts';

export async function twoAgents(stage: Stage, secret: string): Promise<void> {
  const { page } = stage;
  page.heading('Two agents in one connection');
  page.line('agents', agentNames(await stage.initialize()).join(', '));
  for (const [name, isAskedFor] of [
    ['sketcher', false],
    ['builder', true],
  ] as const) {
    const { current, shown } = agentOption(await stage.open(name, isAskedFor));
    expect(current === name, `the session should be ${name}'s and is ${current}'s`);
    page.line('session', `${isAskedFor ? 'the editor asks for one: ' : 'the default agent:       '} ${shown}`);
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
  expect(names.length === 2, `two agents should answer, and ${names.length} did`);
  return names;
}

/** The option by which an editor chooses the agent of a session, as it may show it. */
function agentOption({ configOptions }: NewSessionResponse): { current: string | undefined; shown: string } {
  const option = configOptions?.find(({ category }) => category === '_agent');
  if (option?.type !== 'select') return { current: undefined, shown: 'missing' };
  const names = option.options.flatMap((choice) => ('value' in choice ? [choice] : choice.options));
  const shown = names.map(({ value, name }) => (value === option.currentValue ? `[${name}]` : ` ${name} `)).join(' ');
  return { current: option.currentValue, shown: shown.trimEnd() };
}
