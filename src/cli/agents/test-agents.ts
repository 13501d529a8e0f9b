// `switchboard agents test`: checks whether an agent starts, and lists its capabilities.
import type { InitializeResult } from '../../acp/shapes.ts';
import { type Asking, knownAgent } from '../../agents/asking.ts';
import type { AgentSpec } from '../../agents/defaults.ts';
import { secretsOf } from '../../app/launch.ts';
import { bundledCatalogue } from '../../app/package-files.ts';
import { isSame, PLAIN, type SelectedDialect } from '../../dialects/select-dialect.ts';
import type { ProxyError } from '../../errors.ts';
import type { SandboxLevel } from '../../policy/policy.ts';
import { startAgent } from '../../proxy/agents/start-in-dialect.ts';
import { systemClock } from '../../proxy/context.ts';
import type { Secrets } from '../../redaction/redact.ts';
import { redactJson } from '../../redaction/redact-json.ts';
import type { Limits } from '../../wire/frame.ts';
import { Scanner } from '../../wire/scanner/scanner.ts';
import { launchContained, sandboxHere } from '../doctor/sandbox-here.ts';
import { printJson, printJsonOfFailure, shownCommands } from '../output.ts';
import { resolveConfig } from '../resolve-config.ts';
import type { AgentsFlags } from './agents.ts';
import { ASKS, describeProbe, type Probe } from './probe-asking.ts';
import { type Launch, untilInterrupted } from './temporary-agents.ts';

const EXIT = { ok: 0, timeout: 3, unavailable: 7 } as const;

type Tested = {
  readonly agent: string;
  readonly ok: boolean;
  readonly startMs: number;
  readonly result?: InitializeResult;
  /** Undefined for ACP in lines. */
  readonly dialect?: SelectedDialect;
  readonly error?: ProxyError;
  /** The level of the sandbox that it was started in. */
  readonly sandbox?: SandboxLevel;
  /** What the catalogue knows about its permission requests. */
  readonly asks?: Asking;
  readonly probe?: Probe;
};

/** Agents offer terminal logins only to clients that support them, as `switchboard auth` does. */
const TEST_PARAMS = JSON.stringify({
  protocolVersion: 1,
  clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true, auth: { terminal: true } },
  clientInfo: { name: 'acp-switchboard', version: '0' },
});

/** Starts each agent, or the named one, initializes it, reports its capabilities and stops it. */
export async function testAgents(name: string | undefined, flags: AgentsFlags & { readonly probe?: boolean }): Promise<number> {
  const { config, stateDir } = await resolveConfig({ ...flags, ...(name !== undefined && { agent: name }) });
  const secrets = await secretsOf(config);
  const catalogue = bundledCatalogue();
  const sandbox = await sandboxHere(config, stateDir);
  const tested = await untilInterrupted(stateDir, async (launch) => {
    const all: Tested[] = [];
    for (const spec of config.agents) {
      const tested = await testAgent(spec, config.limits, secrets, launchContained(launch, sandbox));
      const asks = knownAgent(catalogue, spec, tested.result?.agentInfo?.name)?.asks;
      const probe = flags.probe && tested.ok ? await (await import('./probe-asking.ts')).probeAsking(spec.name, flags) : undefined;
      all.push({
        ...tested,
        ...(sandbox.isContained(spec) && { sandbox: sandbox.containment(spec).level }),
        ...(asks && { asks }),
        ...(probe && { probe }),
      });
    }
    return all;
  });
  const failed = tested.find(({ ok }) => !ok);
  if (flags.json) printAsJson(tested, failed, secrets);
  else for (const one of tested) process.stdout.write(`${secrets.redact(shownCommands(describe(one)))}\n`);
  if (!failed) return EXIT.ok;
  return failed.error?.key === 'AGENT_SILENT' ? EXIT.timeout : EXIT.unavailable;
}

function printAsJson(tested: readonly Tested[], failed: Tested | undefined, { redact }: Secrets): void {
  const agents = tested.map(({ error, ...rest }) => ({
    ...rest,
    ...(rest.dialect && { tongue: rest.dialect }), // its name in version 0.1
    ...(error && { error: { code: error.key, message: error.message, stderr: stderrOf(error) } }),
  }));
  const data = redactJson({ agents }, redact);
  if (!failed) return printJson(data);
  const count = tested.filter(({ ok }) => !ok).length;
  const code = failed.error?.key === 'AGENT_SILENT' ? 'TIMEOUT' : 'AGENT_UNAVAILABLE';
  const message = `${count} of ${tested.length} agents failed: ${failed.error?.message}`;
  printJsonOfFailure({ code, message: redact(message), hint: 'data.agents has the details and stderr of each agent' }, data);
}

const stderrOf = (error: ProxyError | undefined): readonly string[] => (error?.data?.stderr as readonly string[] | undefined) ?? [];

/** Starts, initializes and stops one agent. */
export function testAgent(spec: AgentSpec, limits: Limits, secrets: Secrets, launch: Launch): Promise<Tested> {
  const from = performance.now();
  return new Promise((resolve) => {
    let isDone = false;
    const done = async (about: Pick<Tested, 'ok' | 'result' | 'error' | 'dialect'>, leaving: Promise<void>) => {
      if (isDone) return; // we stopped it ourselves
      isDone = true;
      const startMs = Math.round(performance.now() - from);
      await leaving;
      resolve({ agent: spec.name, startMs, ...about });
    };
    const run = startAgent(
      spec,
      {
        launch: (agent) => launch(agent, secrets),
        limits,
        scanner: new Scanner(),
        clock: systemClock,
        initializeParams: () => TEST_PARAMS,
        isTrial: true,
      },
      {
        ready: ({ result }, dialect) => void done({ ok: true, result, ...(!isSame(dialect, PLAIN) && { dialect }) }, run.stop()),
        ended: (error, _, leaving) => void done({ ok: false, error }, leaving),
        frame: () => {},
        answer: () => {},
        refused: () => {},
        oversized: () => {},
      },
    );
  });
}

function describe({ agent, ok, startMs, result, error, dialect, sandbox, asks, probe }: Tested): string {
  if (!ok)
    return [
      `${agent}: FAILED${sandbox ? ` in its sandbox (${sandbox})` : ''}. ${error?.message}`,
      ...stderrOf(error).map((line) => `  | ${line}`),
    ].join('\n');
  const info = result?.agentInfo;
  const methods = (result?.authMethods ?? []).map((method) => `${method.id} (${method.name})`);
  const unknown = probe ? 'not known' : `not known; to find out, run: switchboard agents test ${agent} --probe`;
  return [
    `${agent}: ok, initialized in ${startMs} ms`,
    `  name          ${info ? `${info.title ?? info.name} ${info.version ?? ''}`.trim() : 'unnamed'}`,
    `  capabilities  ${offered(result?.agentCapabilities ?? {}).join(', ') || 'baseline'}`,
    ...(dialect ? [`  dialect       ${dialect.dialect}, framing ${dialect.framing}`] : []),
    `  logins        ${methods.length === 0 ? 'none' : `${methods.join(', ')}; to log in, run: switchboard auth ${agent}`}`,
    ...(sandbox ? [`  sandbox       ${sandbox}`] : []),
    `  permission    ${asks ? asksText(asks) : unknown}`,
    ...(probe ? [`  probe         ${describeProbe(probe)}`] : []),
  ].join('\n');
}

/** Whether it asks before it acts, as far as the catalogue knows. */
export function asksText(asks: Asking): string {
  const { byDefault, underPolicy, note } = asks;
  const words =
    byDefault === underPolicy
      ? ASKS[byDefault]
      : `${ASKS[underPolicy]} under a policy, which starts it so; by itself it ${ASKS[byDefault]}`;
  return note === undefined ? words : `${words} (${note})`;
}

/** The paths of supported capabilities: `loadSession`, `promptCapabilities.image`, … */
function offered(value: object, prefix = ''): string[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === '_meta' || inner === false || inner === null) return [];
    const nested = typeof inner === 'object' ? offered(inner, `${prefix}${key}.`) : [];
    return nested.length > 0 ? nested : /Capabilities$/.test(key) ? [] : [`${prefix}${key}`];
  });
}
