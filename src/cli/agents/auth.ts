// `switchboard auth AGENT [METHOD]`: lists the login methods of an agent, or logs in with one. Starts the agent only for this.
import { randomUUID } from 'node:crypto';
import type { AuthMethod, InitializeResult } from '../../acp/shapes.ts';
import type { AgentSpec } from '../../agents/defaults.ts';
import { secretsOf } from '../../app/launch.ts';
import { VERSION } from '../../app/package-files.ts';
import { type Client, createClient } from '../../client/client.ts';
import { ClientError, ConnectionEnded } from '../../client/client-error.ts';
import { initialDialect, settingOf, translate } from '../../dialects/select-dialect.ts';
import { failure } from '../../errors.ts';
import { didYouMean } from '../../policy/format/nearest.ts';
import { systemClock } from '../../proxy/context.ts';
import type { Secrets } from '../../redaction/redact.ts';
import { summaryLine } from '../../transports/stderr-tail.ts';
import type { Exit } from '../../transports/transport.ts';
import type { Limits } from '../../wire/frame.ts';
import { Scanner } from '../../wire/scanner/scanner.ts';
import { launchContained, sandboxHere } from '../doctor/sandbox-here.ts';
import { CommandFailure } from '../failure.ts';
import { printJson, printTable, shownCommands } from '../output.ts';
import { type ConfigFlags, resolveConfig } from '../resolve-config.ts';
import { createPaint } from '../run/paint.ts';
import { kindOf, type MethodShown, shownMethod, variablesOf } from './login-methods.ts';
import { type Launch, untilInterrupted } from './temporary-agents.ts';
import { runInTerminal } from './terminal-login.ts';

export type LoginFlags = ConfigFlags & { readonly json?: true };

const EXIT = { ok: 0, timeout: 3, notFound: 4, unavailable: 7 } as const;

export async function login(agent: string, methodId: string | undefined, flags: LoginFlags): Promise<number> {
  const { config, stateDir } = await resolveConfig({ config: flags.config, agent });
  const [spec] = config.agents as [AgentSpec];
  const secrets = await secretsOf(config);
  const sandbox = await sandboxHere(config, stateDir);
  const found = await untilInterrupted(stateDir, async (launch): Promise<number | AuthMethod> => {
    const running = startAgent(spec, config.limits, secrets, launchContained(launch, sandbox, true));
    const methods = await running.authMethods();
    if (methodId === undefined) return list(spec, methods, flags);
    const method = methods.find(({ id }) => id === methodId) ?? unknownMethod(agent, methodId, methods);
    const kind = kindOf(method);
    if (kind === 'variable') return reportVariables(spec, method);
    if (kind === 'terminal') return method;
    if (!flags.json) process.stderr.write(`Logging in to ${agent} with "${method.name}"; the agent may open a browser …\n`);
    await running.authenticate(method.id);
    return done(agent, method, flags);
  });
  if (typeof found === 'number') return found;
  // The agent process has exited by now; the login command may write to the same files.
  const method = found;
  const code = await runInTerminal(spec, method, sandbox);
  if (code !== 0)
    throw new CommandFailure(
      EXIT.unavailable,
      `the login of agent "${agent}" failed with exit code ${code}`,
      `to try again, run: switchboard auth ${agent} ${methodId}`,
    );
  return done(agent, method, flags);
}

function done(agent: string, method: AuthMethod, { json }: LoginFlags): number {
  if (json) printJson({ agent, method: method.id, authenticated: true });
  else process.stdout.write(`${agent}: logged in with "${method.name}".\n`);
  return EXIT.ok;
}

function list({ name, env }: AgentSpec, methods: readonly AuthMethod[], { json }: LoginFlags): number {
  const shown = methods.map((method) => shownMethod(method, { ...process.env, ...env }));
  const paint = createPaint(process.stdout.isTTY === true, process.env);
  if (json) printJson({ agent: name, methods: shown });
  else if (shown.length === 0)
    process.stdout.write(`${name} offers no login methods; it needs none, or reads its key from the environment.\n`);
  else {
    printTable(
      ['METHOD', 'KIND', 'DESCRIPTION'],
      shown.map((method) => rowOf(method).map(paint.foreign)),
    );
    process.stdout.write(shownCommands(`\nTo log in, run: switchboard auth ${name} METHOD\n`));
  }
  return EXIT.ok;
}

function rowOf({ id, kind, name, description, variables }: MethodShown): string[] {
  const set = variables.map((variable) => `${variable.name} is ${variable.isSet ? 'set' : 'not set'}`);
  return [id, kind, [name, description, ...set].filter((part) => part !== undefined).join('; ')];
}

function unknownMethod(agent: string, id: string, methods: readonly AuthMethod[]): never {
  const ids = methods.map((method) => method.id);
  const hint = didYouMean(id, ids) ?? (ids.length > 0 ? `methods: ${ids.join(', ')}` : 'the agent offers no login methods');
  throw new CommandFailure(EXIT.notFound, `agent "${agent}" has no login method "${id}"`, hint);
}

/** A process cannot set variables of its parent, so the user must set the key. */
function reportVariables({ name, env }: AgentSpec, method: AuthMethod): number {
  const missing = variablesOf(method).filter((variable) => !variable.isOptional && !{ ...process.env, ...env }[variable.name]);
  if (missing.length === 0) {
    process.stdout.write(`${name}: the variables for "${method.name}" are set; the agent reads them when it starts.\n`);
    return EXIT.ok;
  }
  const names = missing.map((variable) => variable.name);
  const lines = names.map((one) => `"${one}": "\${env:${one}}"`).join(', ');
  const where = typeof method.link === 'string' ? `; to get a key: ${method.link}` : '';
  throw new CommandFailure(
    EXIT.unavailable,
    `"${method.name}" needs ${names.join(', ')} in the environment of agent "${name}"`,
    `export it before you start switchboard, or set agent_servers.${name}.env { ${lines} } in the configuration${where}`,
  );
}

/** Shows the agent's stderr live: agents print the login URL and code there. */
function startAgent(spec: AgentSpec, limits: Limits, secrets: Secrets, launch: Launch) {
  const paint = createPaint(process.stderr.isTTY === true, process.env);
  let isAsked = false;
  const child = launch(spec, secrets, (line) => {
    if (isAsked && line !== '') process.stderr.write(`  | ${paint.foreign(line)}\n`);
  });
  const exited = new Promise<Exit>((resolve) => child.onExit(resolve));
  const streams = translate(
    child,
    initialDialect(settingOf(spec), undefined),
    {
      ...{ agent: spec.name, isNamed: spec.dialect !== 'auto', timeouts: spec.timeouts },
      ...{ maxLineBytes: spec.maxLineBytes, mint: randomUUID },
    },
    { scanner: new Scanner(), maxFrameBytes: limits.maxFrameBytes, after: systemClock.after, remark: () => {}, kill: () => child.kill() },
  );
  const client: Client = createClient(streams.fromAgent, streams.toAgent, {
    request(method) {
      throw new ClientError(-32601, `Method not found: ${method}`);
    },
    notification: () => {},
  });
  void exited.then((exit) => {
    streams.exited(exit.kind === 'exited' ? exit.code : null);
    streams.stop();
    client.close(); // the streams of an agent that did not start never end
  });
  const ask = async (method: string, params: unknown): Promise<unknown> => {
    try {
      return await client.request(method, params);
    } catch (error) {
      const isGone = error instanceof ConnectionEnded;
      if (isGone) await child.stop();
      throw failed(spec, method, error as Error, isGone ? await exited : undefined, child.stderrTail());
    }
  };
  return {
    async authMethods(): Promise<readonly AuthMethod[]> {
      const { initializeMs } = spec.timeouts;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          const { message } = failure('AGENT_SILENT', [spec.name, initializeMs, summaryLine(child.stderrTail())]);
          reject(new CommandFailure(EXIT.timeout, message, `to find out why, run: switchboard agents test ${spec.name}`));
        }, initializeMs);
      });
      const result = (await Promise.race([ask('initialize', INITIALIZE), late]).finally(() => clearTimeout(timer))) as InitializeResult;
      return (result.authMethods ?? []).filter(({ id, name }) => typeof id === 'string' && typeof name === 'string');
    },
    async authenticate(methodId: string): Promise<void> {
      isAsked = true;
      await ask('authenticate', { methodId });
    },
  };
}

const INITIALIZE = {
  protocolVersion: 1,
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false, auth: { terminal: true } },
  clientInfo: { name: 'switchboard-auth', title: 'switchboard auth', version: VERSION },
};

function failed(
  { name, command }: AgentSpec,
  method: string,
  error: Error,
  exit: Exit | undefined,
  stderr: readonly string[],
): CommandFailure {
  const tail = stderr.slice(-5).map((line) => `\n  | ${line}`);
  if (exit?.kind === 'unreachable')
    return new CommandFailure(EXIT.unavailable, `agent "${name}" cannot be reached at ${command}: ${exit.why}`, exit.next);
  if (exit?.kind === 'disconnected')
    return new CommandFailure(EXIT.unavailable, `the connection to agent "${name}" was lost (${exit.why}) before it answered ${method}`);
  if (exit?.kind === 'unstartable')
    return new CommandFailure(
      EXIT.unavailable,
      `agent "${name}" did not start: ${exit.why} (command: ${command})`,
      exit.next ?? `check "command" in agent_servers.${name}`,
    );
  if (exit) {
    const words = `agent "${name}" exited (${exit.signal ?? `code ${exit.code}`}) before answering ${method}`;
    return new CommandFailure(EXIT.unavailable, `${words}${tail.join('')}`, `to find out why, run: switchboard agents test ${name}`);
  }
  const words = method === 'authenticate' ? `agent "${name}" rejected the login: ${error.message}` : `agent "${name}": ${error.message}`;
  return new CommandFailure(EXIT.unavailable, words, `for other methods, run: switchboard auth ${name}`);
}
