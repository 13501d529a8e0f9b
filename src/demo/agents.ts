// The two demo agents: what each advertises and offers. They differ on purpose, so that a multiplexer has something to merge.
import type { AgentCapabilities, SessionMode, ToolKind } from '@agentclientprotocol/sdk';

type ProfileMode = SessionMode & {
  /** Kinds of tool calls that this mode runs without a permission request. */
  readonly preapproved: readonly ToolKind[];
};

type SelectOption = {
  readonly id: string;
  readonly name: string;
  readonly category: string;
  /** The first value is the default. */
  readonly options: readonly { readonly value: string; readonly name: string; readonly description: string }[];
};

export type AgentProfile = {
  readonly name: string;
  readonly title: string;
  readonly agentCapabilities: AgentCapabilities;
  /** The first mode is the default. */
  readonly modes: readonly [ProfileMode, ...ProfileMode[]];
  /** Empty for an agent from before `configOptions`: then neither the field nor `session/set_config_option` exists. */
  readonly configOptions: readonly SelectOption[];
  readonly contextTokens: number;
  readonly thoughts: readonly [string, string];
  readonly advice: string;
};

const sketcher: AgentProfile = {
  name: 'sketcher',
  title: 'Sketcher',
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, embeddedContext: true },
    mcpCapabilities: { http: true },
    sessionCapabilities: { list: {}, resume: {}, close: {} },
  },
  modes: [
    { id: 'ask', name: 'Ask', description: 'Asks before each edit and each command', preapproved: [] },
    { id: 'code', name: 'Code', description: 'Edits without asking, asks before each command', preapproved: ['edit'] },
  ],
  configOptions: [
    {
      id: 'model',
      name: 'Model',
      category: 'model',
      options: [
        { value: 'pencil', name: 'Pencil', description: 'Quick and light' },
        { value: 'ink', name: 'Ink', description: 'Slow and sure' },
      ],
    },
    {
      id: 'thinking',
      name: 'Thinking',
      category: 'thought_level',
      options: [
        { value: 'brief', name: 'Brief', description: 'One thought, then the answer' },
        { value: 'thorough', name: 'Thorough', description: 'A second thought before the answer' },
      ],
    },
  ],
  contextTokens: 200_000,
  thoughts: ['First the outline, then the details.', 'Looked at from the other side, the outline still holds.'],
  advice: 'I would draw it up first: try /plan.',
};

const builder: AgentProfile = {
  name: 'builder',
  title: 'Builder',
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: false, audio: false, embeddedContext: false },
    mcpCapabilities: { http: false, sse: false },
    sessionCapabilities: { list: {} },
  },
  modes: [
    { id: 'ask', name: 'Ask', description: 'Asks before each edit and each command', preapproved: [] },
    { id: 'auto', name: 'Auto', description: 'Edits and runs without asking', preapproved: ['edit', 'execute'] },
  ],
  configOptions: [],
  contextTokens: 32_000,
  thoughts: ['Measure twice, cut once.', 'It fits.'],
  advice: 'Hand me something to make: try /edit notes.txt or /run ls.',
};

export const profiles: ReadonlyMap<string, AgentProfile> = new Map([sketcher, builder].map((profile) => [profile.name, profile]));
