// What makes a known agent ask for permission, and what stops it from asking. With a policy in force the first is applied when the agent
// starts: no rule can decide about what an agent does not ask about.
import { agentBehind, type Catalogue, type CatalogueAgent, findAgent } from './catalogue.ts';
import type { AgentSpec } from './defaults.ts';

/** `everything`: all that changes something. `some`: a part runs unasked. `nothing`: the agent acts without asking. */
export type AsksFor = 'everything' | 'some' | 'nothing';

/** An entry's `asks` in the catalogue. */
export type Asking = {
  /** With the agent's own default settings. */
  readonly byDefault: AsksFor;
  /** With the settings below, which switchboard applies under a policy. */
  readonly underPolicy: AsksFor;
  readonly env?: Readonly<Record<string, string>>;
  /** Variables that stop it from asking. */
  readonly withoutEnv?: readonly string[];
  /** Added unless the first of them is already there. */
  readonly args?: readonly string[];
  /** Arguments that stop it from asking: single words, or an option and its value in one text. */
  readonly withoutArgs?: readonly string[];
  /** Modes in which it asks, best first. */
  readonly modes?: readonly string[];
  /** Modes, and values of options, in which it asks for nothing or leaves the decision to a model. */
  readonly stops?: { readonly modes?: readonly string[]; readonly options?: Readonly<Record<string, readonly string[]>> };
  /** Modes in which it asks for less. */
  readonly weakens?: { readonly modes?: readonly string[] };
  readonly note?: string;
};

/** The catalogue's entry of an agent: by its command, else by the name it gives itself. */
export function knownAgent(
  catalogue: Catalogue,
  { command, args }: Pick<AgentSpec, 'command' | 'args'>,
  ownName?: string,
): CatalogueAgent | undefined {
  const byCommand = agentBehind([command, ...args], catalogue);
  if (byCommand || ownName === undefined) return byCommand;
  return agentBehind([ownName], catalogue) ?? findAgent(catalogue, ownName);
}

/** The agent's settings with those that make it ask, and what was changed, in words. */
export function withAsking(spec: AgentSpec, asking: Asking | undefined): { readonly spec: AgentSpec; readonly changes: readonly string[] } {
  if (!asking) return { spec, changes: [] };
  const { env = {}, withoutEnv = [], args = [], withoutArgs = [] } = asking;
  const kept = withoutOptions(spec.args, withoutArgs);
  const [first] = args;
  const isThere = first === undefined || kept.some((arg) => arg === first || arg.startsWith(`${first}=`));
  const changed = Object.entries(env).filter(([name, value]) => spec.env[name] !== value);
  const removed = withoutEnv.filter((name) => spec.env[name] !== undefined);
  const changes = [
    ...changed.map(([name, value]) => `${name}=${value}`),
    ...removed.map((name) => `without ${name}`),
    ...(isThere ? [] : [args.join(' ')]),
    ...(kept.length < spec.args.length ? [`without ${spec.args.filter((arg) => !kept.includes(arg)).join(' ')}`] : []),
  ];
  const ownEnv = Object.fromEntries(Object.entries(spec.env).filter(([name]) => !withoutEnv.includes(name)));
  return {
    spec: {
      ...spec,
      args: isThere ? kept : [...kept, ...args],
      env: { ...ownEnv, ...env },
      withheldEnv: [...spec.withheldEnv, ...withoutEnv],
    },
    changes,
  };
}

/** Starts agents with the settings that make them ask, and says once what that changes. */
export function startsAsking(catalogue: Catalogue, report: (text: string) => void): (spec: AgentSpec) => AgentSpec {
  const reported = new Set<string>();
  return (spec) => {
    const asks = knownAgent(catalogue, spec)?.asks;
    const { spec: asking, changes } = withAsking(spec, asks);
    const text = `switchboard changed the start settings of agent "${spec.name}" so that it asks for permission: ${changes.join(', ')}`;
    if (changes.length > 0 && !reported.has(text)) report(text);
    reported.add(text);
    return asking;
  };
}

function withoutOptions(args: readonly string[], without: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string;
    const pair = `${word} ${args[at + 1]}`;
    if (without.includes(word) || without.includes(word.replace('=', ' '))) continue;
    if (without.includes(pair)) at++;
    else kept.push(word);
  }
  return kept;
}
