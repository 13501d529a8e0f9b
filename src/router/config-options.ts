// Adds the `agent` option to an agent's own options. Option lists are always complete, so every list must contain it. Once there is a list,
// clients ignore `modes` and `models`: for an agent that has only those, they become options too.
import type { AvailableCommand, SelectOption, SessionModelState, SessionModeState } from '../acp/shapes.ts';

/** An agent's latest options of a session. */
export type AgentOptions = {
  /** The elements of its own `configOptions` as it wrote them; undefined if it sends none. */
  readonly own: string | undefined;
  readonly ownIds: readonly string[];
  readonly modes: SessionModeState | undefined;
  readonly models: SessionModelState | undefined;
};

export const NO_OPTIONS: AgentOptions = { own: undefined, ownIds: [], modes: undefined, models: undefined };

export type AgentChoice = {
  readonly current: string;
  readonly agents: readonly { readonly name: string; readonly title: string }[];
  /** After the first prompt only one value remains, so that a saved default cannot change the agent. */
  readonly isLocked: boolean;
};

/** The id of the agent option: `agent`, unless the agent has an option of that name. */
export function agentOptionId(options: AgentOptions): string {
  for (let n = 0; ; n++) {
    const id = n === 0 ? 'agent' : n === 1 ? 'switchboard-agent' : `switchboard-agent-${n}`;
    if (!options.ownIds.includes(id)) return id;
  }
}

/** Whether an id is the agent option's, also under a name it has with another agent: a client may have kept that one. */
export function isAgentOption(options: AgentOptions, id: unknown): boolean {
  return typeof id === 'string' && OUR_IDS.test(id) && !options.ownIds.includes(id);
}

const OUR_IDS = /^(?:agent|switchboard-agent(?:-\d+)?)$/;

/** The elements before the agent's own: the agent option, then options that stand in for modes and models. */
export function addedOptions(options: AgentOptions, choice: AgentChoice): readonly SelectOption[] {
  const offered = choice.isLocked ? choice.agents.filter(({ name }) => name === choice.current) : choice.agents;
  const agentOption: SelectOption = {
    id: agentOptionId(options),
    name: 'Agent',
    description: choice.isLocked ? 'The agent of this session' : 'The agent of this session; it can change until the first prompt',
    category: '_agent',
    type: 'select',
    currentValue: choice.current,
    options: offered.map(({ name, title }) => ({ value: name, name: title })),
  };
  return [agentOption, ...standIns(options)];
}

/** The whole list as JSON text. */
export function completeList(options: AgentOptions, choice: AgentChoice): string {
  const added = addedOptions(options, choice).map((option) => JSON.stringify(option));
  return `[${[...added, ...(options.own ? [options.own] : [])].join(',')}]`;
}

/** What a stand-in option represents, and so which request sets it. */
export function standInFor(options: AgentOptions, configId: string): 'mode' | 'model' | undefined {
  return standIns(options).find((option) => option.id === configId)?.category as 'mode' | 'model' | undefined;
}

export function withMode(options: AgentOptions, currentModeId: string): AgentOptions {
  return options.modes ? { ...options, modes: { ...options.modes, currentModeId } } : options;
}

export function withModel(options: AgentOptions, currentModelId: string): AgentOptions {
  return options.models ? { ...options, models: { ...options.models, currentModelId } } : options;
}

function standIns({ own, modes, models }: AgentOptions): readonly SelectOption[] {
  if (own !== undefined) return [];
  const found: SelectOption[] = [];
  if (modes)
    found.push({
      ...{ id: 'mode', name: 'Mode', category: 'mode', type: 'select', currentValue: modes.currentModeId },
      options: modes.availableModes.map(({ id, name, description }) => ({ value: id, name, ...(description && { description }) })),
    });
  if (models)
    found.push({
      ...{ id: 'model', name: 'Model', category: 'model', type: 'select', currentValue: models.currentModelId },
      options: models.availableModels.map(({ modelId, name, description }) => ({
        value: modelId,
        name,
        ...(description && { description }),
      })),
    });
  return found;
}

// `/agent NAME`: the same choice as the config option, for clients that show commands but no options.
export const COMMAND_NAME = 'agent';

export function agentCommand(agents: readonly string[]): AvailableCommand {
  return {
    name: COMMAND_NAME,
    description: 'Show or choose the agent of this session (until its first prompt)',
    input: { hint: agents.join(' | ') },
  };
}

/** The argument of `/agent` if the prompt is only that command ('' without one); undefined for any other prompt. */
export function readAgentCommand(prompt: unknown): string | undefined {
  if (!Array.isArray(prompt) || prompt.length !== 1) return undefined;
  const [block] = prompt as readonly { readonly type?: unknown; readonly text?: unknown }[];
  if (block?.type !== 'text' || typeof block.text !== 'string') return undefined;
  const found = /^\s*\/agent(?:\s+(\S+))?\s*$/.exec(block.text);
  return found ? (found[1] ?? '') : undefined;
}
