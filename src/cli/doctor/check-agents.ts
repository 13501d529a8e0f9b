// Checks the agents: the program exists, is the expected one, starts and answers.

import { knownAgent, withAsking } from '../../agents/asking.ts';
import { agentBehind, type Catalogue, suitsNode } from '../../agents/catalogue.ts';
import type { AgentSpec } from '../../agents/defaults.ts';
import { isOurProxy } from '../../agents/recursion.ts';
import { secretsOf } from '../../app/launch.ts';
import type { Config } from '../../config/config.ts';
import { platformOf } from '../../platform/platform.ts';
import { type Around, findProgram, isNodeScript } from '../../setup/find-program.ts';
import { drift } from '../../setup/import-agents.ts';
import type { Launch } from '../agents/temporary-agents.ts';
import { asksText, testAgent } from '../agents/test-agents.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** CodeCompanion gives an agent 20 s, and the switchboard must answer before that. */
const SLOW_MS = 10_000;

/** Without `launch`, no agent is started. */
export async function checkAgents(config: Config, catalogue: Catalogue, around: Around, launch: Launch | undefined): Promise<Finding[]> {
  const secrets = await secretsOf(config);
  const attempt: Attempt | undefined = launch && ((spec) => testAgent(spec, config.limits, secrets, launch));
  const usable = config.agents.filter(({ unusable }) => !unusable); // the check of the configuration reports the others
  const all = await Promise.all(usable.map((spec) => checkAgent(spec, catalogue, around, attempt, config.policies.length > 0)));
  return all.flat();
}

/** Starts an agent briefly. */
type Attempt = (spec: AgentSpec) => ReturnType<typeof testAgent>;

async function checkAgent(
  spec: AgentSpec,
  catalogue: Catalogue,
  around: Around,
  attempt: Attempt | undefined,
  hasPolicy: boolean,
): Promise<Finding[]> {
  const { name, command, args } = spec;
  const remove = `switchboard agents remove ${name}`;
  if (spec.remote)
    return attempt ? [await start(spec, catalogue, attempt)] : [ok('agent.remote', `agent "${name}": ${spec.remote.address}`)];
  if (isOurProxy(command, args))
    return [
      problem('agent.loop', `agent "${name}" is switchboard itself`, 'Recursive configuration: switchboard would start itself', remove),
    ];
  const program = findProgram(command, { ...around, env: { ...around.env, ...spec.env } });
  if (program === undefined) {
    const next = agentBehind([command, ...args], catalogue) ? renew(spec, catalogue) : `install ${command}, or ${remove}`;
    return [problem('agent.command', `agent "${name}": command not found: ${command}`, 'switchboard cannot start this agent', next)];
  }
  const stale = drift(spec, catalogue).map((text) => warning('agent.drift', `agent "${name}" is outdated`, text, renew(spec, catalogue)));
  const started = attempt ? [await start(spec, catalogue, attempt)] : [ok('agent.command', `agent "${name}": ${program}`)];
  return [
    ...started,
    asks(spec, catalogue, hasPolicy),
    ...visible(name, command, program, around),
    ...oldNode(spec, program, catalogue),
    ...stale,
  ];
}

/** Whether the agent asks before it acts: a policy can only decide what it is asked. */
function asks(spec: AgentSpec, catalogue: Catalogue, hasPolicy: boolean): Finding {
  const asking = knownAgent(catalogue, spec)?.asks;
  const { changes } = withAsking(spec, asking);
  const settings = hasPolicy && changes.length > 0 ? `; switchboard changes how it starts: ${changes.join(', ')}` : '';
  const known = asking ? `${asksText(asking)}${settings}` : 'is not in the catalogue: it is unknown whether it asks for permission';
  const what = `agent "${spec.name}" ${known}`;
  const level = hasPolicy ? asking?.underPolicy : asking?.byDefault;
  if (!hasPolicy || level === 'everything') return ok('agent.asks', what);
  const why = 'the policy can only decide what it is asked';
  return warning('agent.asks', what, why, `see what it does without asking: switchboard agents test ${spec.name} --probe`);
}

/** The command that sets the agent up again, if the catalogue knows it. */
function renew({ name, command, args }: AgentSpec, catalogue: Catalogue): string {
  const agent = agentBehind([command, ...args], catalogue);
  return agent ? `switchboard agents add ${agent.id} --name ${name} --install --force` : `switchboard agents test ${name}`;
}

async function start(spec: AgentSpec, catalogue: Catalogue, attempt: Attempt): Promise<Finding> {
  const { name } = spec;
  const { ok: works, error, startMs, result } = await attempt(spec);
  if (!works)
    return problem(
      'agent.start',
      `agent "${name}" failed to start`,
      error?.message ?? 'no reason given',
      `switchboard agents test ${name}`,
    );
  const logins = (result?.authMethods ?? []).map(({ id }) => id).join(', ');
  const what = `agent "${name}" answered in ${startMs} ms${logins === '' ? '' : ` (logins: ${logins})`}`;
  if (startMs <= SLOW_MS) return ok('agent.start', what);
  return warning('agent.start', what, 'editors may time out; npx checks for updates at each start', renew(spec, catalogue));
}

function visible(name: string, command: string, program: string, around: Around): Finding[] {
  const { desktopPath } = platformOf(around.platform);
  if (desktopPath === undefined || command.includes('/')) return [];
  if (findProgram(command, { ...around, env: { PATH: desktopPath } }) !== undefined) return [];
  const why = 'an editor started from the desktop may lack the PATH of your shell';
  return [
    warning(
      'agent.path',
      `agent "${name}": ${command} is only on your own PATH`,
      why,
      `use the absolute path in the configuration: ${program}`,
    ),
  ];
}

function oldNode({ name, command, args }: AgentSpec, program: string, catalogue: Catalogue): Finding[] {
  const agent = agentBehind([command, ...args], catalogue);
  const runsOnNode = command === process.execPath || isNodeScript(program) || command === 'npx';
  if (!agent || !runsOnNode || suitsNode(agent, process.version)) return [];
  return [
    warning(
      'agent.node',
      `agent "${name}" needs Node ${agent.node}, but this is ${process.version}`,
      'the agent may fail',
      'install a newer Node',
    ),
  ];
}
