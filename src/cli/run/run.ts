// `switchboard run`: a prompt turn from a terminal or a script. It goes through the proxy in this process, so policy, tools and records apply.
import { existsSync } from 'node:fs';
import { NO_LISTENER } from '../../app/events.ts';
import { VERSION } from '../../app/package-files.ts';
import type { PolicyFlags } from '../../app/policy.ts';
import type { Capabilities, PromptBlocks } from '../../client/acp-methods.ts';
import { type Client, createClient } from '../../client/client.ts';
import { describePermission } from '../../client/describe-permission.ts';
import { fields } from '../../json-object.ts';
import { createLiveCleaner } from '../../redaction/redact-stream.ts';
import { createSessionStore } from '../../store/sessions/session-store.ts';
import { CommandFailure } from '../failure.ts';
import { type InProcessProxy, startInProcessProxy } from '../in-process-proxy.ts';
import { onInterrupts } from '../interrupts.ts';
import { notice } from '../output.ts';
import { surroundings } from '../resolve-config.ts';
import { type Approval, approvalOf, createApprover } from './approve.ts';
import { askPerson, type Offered, refusal, titleOf } from './ask-person.ts';
import { type AttachmentFlags, attachments } from './attachments.ts';
import { createRefused, describeFailure } from './explain-failure.ts';
import { createFiles } from './files.ts';
import { createFrameMirror } from './frame-mirror.ts';
import { createHeldBack } from './held-back.ts';
import { type Opened, openSession, saveSession, sessionToResume, setMode, setOption, takeUpSession } from './open-session.ts';
import { createPaint } from './paint.ts';
import { createPrompts, type Prompts, readPrompt } from './prompt-input.ts';
import { createScreen, isFrames, type OutputKind } from './screen.ts';
import { createTurnFacts, createTurns, EXIT, type Turns } from './turns.ts';

export type RunFlags = PolicyFlags &
  AttachmentFlags & {
    readonly agent?: string;
    readonly output: OutputKind;
    /** The same as `-o jsonl`. */
    readonly jsonl?: true;
    readonly raw?: true;
    readonly write?: true;
    readonly yolo?: true;
    readonly approve?: Approval;
    readonly resume?: string;
    readonly saveSession?: string;
    readonly listCommands?: true;
    readonly mode?: string;
    /** Options of the session as KEY=VALUE. */
    readonly option?: readonly string[];
    /** The configuration file. Up to 0.1 this was also the name of --option. */
    readonly config?: readonly string[];
    readonly timeout?: number;
    readonly interactive?: true;
    readonly verbose?: true;
  };

/** Agents announce commands on their own; an agent without commands may never do so. */
const COMMANDS_S = 30;

export async function run(words: readonly string[], flags: RunFlags): Promise<number> {
  const isAtTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true;
  if (flags.interactive && !isAtTerminal)
    throw new CommandFailure(EXIT.usage, '-i needs a terminal', 'without -i, pass the prompt as an argument or on stdin');
  if (flags.raw && !isFrames(flags.output))
    throw new CommandFailure(EXIT.usage, '--raw requires -o jsonl', 'add -o jsonl, or remove --raw');
  const prompt = flags.listCommands || flags.interactive ? words.join(' ') : await readPrompt(words, process.stdin);
  const { file, settings } = configFlags(flags);
  const resumed = flags.resume === undefined ? undefined : sessionToResume(flags.resume, flags.agent);
  const canWrite = flags.write === true || flags.yolo === true;
  const approval = approvalOf(flags);
  const prompts = createPrompts();
  const heldBack = createHeldBack((text) => prompts.show(text, (shown) => notice(shown.trimEnd())));
  const facts = createTurnFacts();
  const refused = createRefused((text) => notice(proxy.secrets.redact(text)), facts, approval);
  const print = (text: string) => prompts.show(text, (shown) => void process.stdout.write(shown));
  const mirror = createFrameMirror({
    write: (line) => print(`${line}\n`),
    isRaw: flags.raw === true,
    commandOf: (name) => proxy.config.agents.find((one) => one.name === name)?.command,
  });
  const proxy: InProcessProxy = await startInProcessProxy(
    {
      ...{ ...flags, config: file, agentOfSession: resumed?.agent },
      ...{ isInteractive: isAtTerminal || approval !== 'none', isOneAgent: resumed === undefined },
      ...(flags.verbose && { logLevel: 'debug' as const }),
    },
    {
      isReadOnly: !canWrite,
      notify: heldBack.say,
      events: {
        ...NO_LISTENER,
        onAgent: (name, child) => isFrames(flags.output) && mirror.onAgent(name, child),
        onDecision: refused.decided,
        onStallCancel() {
          facts.isStalled = true;
        },
      },
      ...(isFrames(flags.output) && { extraObserver: mirror.extraObserver }),
    },
  );
  const { agents, defaultAgent } = proxy.config;
  const agent = agents.length === 1 ? (agents[0]?.name ?? '') : defaultAgent;
  const say = (text: string) => flags.verbose && notice(proxy.secrets.redact(text));
  say(`configuration: ${proxy.files.join(', ') || 'none'}; agent: ${agent}${flags.agent === undefined ? '' : ' (--agent)'}`);
  const clean = createLiveCleaner(proxy.secrets);
  const screen = createScreen(flags.output, clean, print);
  const files = createFiles(process.cwd(), {
    ...{ canWrite, canReadAll: flags.yolo === true, refusedWrite: refused.write },
    agent: agents.find(({ name }) => name === agent),
  });
  const approver = createApprover(approval, agent, process.cwd());
  const commands = createSignal();
  let isReplaying = false;
  const client = createClient(proxy.fromProxy, proxy.toProxy, {
    notification(method, params) {
      if (method !== 'session/update') return;
      const { update } = fields(params);
      const isCommands = fields(update).sessionUpdate === 'available_commands_update';
      heldBack.release();
      approver.noteUpdate(update);
      if (flags.listCommands && isCommands) screen.commands({ method, params });
      else if (!flags.listCommands && !isReplaying) screen.update({ method, params });
      if (isCommands) commands.given();
    },
    request(method, params, signal, id) {
      if (method !== 'session/request_permission') return files.serve(method, params);
      const approved = approver.choose(params);
      if (approved || !isAtTerminal) proxy.connection.answersAutomatically(id);
      if (approved) return { outcome: { outcome: 'selected', optionId: approved.optionId } };
      const { options } = fields(params);
      const offered = (Array.isArray(options) ? options : []) as readonly Offered[];
      if (!isAtTerminal) {
        refused.unanswered(params);
        return refusal(offered);
      }
      screen.output.end();
      const paint = createPaint(process.stderr.isTTY === true, process.env);
      const shown = { ...(clean({ method, params }).params as object), options: offered };
      const policy = proxy.connection.evaluatedRequest(id)?.decision;
      const request = describePermission(shown, { agent, cwd: process.cwd(), policy });
      const terminal = { input: process.stdin, output: process.stderr };
      return titleOf(shown, request.title).then((title) => askPerson(terminal, paint, { ...request, title }, signal));
    },
  });
  const turns = createTurns(client, screen.output, facts);
  let logins: readonly string[] = [];
  const interrupts = onInterrupts(turns.interrupt, proxy.kill);
  const startedMs = performance.now();
  try {
    const work = runSession(client, turns, {
      ...{ agent, prompts, prompt, flags, settings, resumed: resumed?.sessionId, capabilities: files.capabilities },
      ...{ commands: commands.wait, say },
      offered(methods) {
        logins = methods;
      },
      replaying(isOn) {
        isReplaying = isOn;
      },
    });
    const [seconds, what] = flags.listCommands ? [flags.timeout ?? COMMANDS_S, `agent "${agent}" announced no commands`] : [flags.timeout];
    const code = await inTime(Promise.race([work, interrupts.ended]), seconds, what);
    say(`finished in ${((performance.now() - startedMs) / 1000).toFixed(1)} s with exit code ${code}`);
    return code;
  } catch (error) {
    const failure = describeFailure(error, agent, proxy.secrets.redact, logins);
    if (failure instanceof Error) heldBack.releaseAttached(failure.message);
    // The policy ended the agent: its exit is the consequence.
    if (facts.isViolation && failure instanceof CommandFailure) throw new CommandFailure(EXIT.denied, failure.message, failure.hint);
    throw failure;
  } finally {
    screen.output.end();
    heldBack.release();
    client.close();
    await files.stop();
    await proxy.close();
    interrupts.stop();
  }
}

type RunParams = {
  readonly agent: string;
  readonly prompts: Prompts;
  readonly prompt: string;
  readonly flags: RunFlags;
  readonly settings: readonly string[];
  /** The id of the session to continue. */
  readonly resumed: string | undefined;
  readonly commands: Promise<void>;
  readonly capabilities: Capabilities;
  readonly say: (text: string) => void;
  /** Receives the ids of the offered login methods. */
  readonly offered: (methods: readonly string[]) => void;
  /** The agent repeats an earlier conversation, which is not shown. */
  readonly replaying: (isOn: boolean) => void;
};

async function runSession(client: Client, turns: Turns, run: RunParams): Promise<number> {
  const { agent, flags, capabilities, resumed } = run;
  const { agentCapabilities = {}, authMethods } = await client.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: capabilities,
    clientInfo: { name: 'switchboard-run', title: 'switchboard run', version: VERSION },
  });
  run.offered((authMethods ?? []).map(({ id }) => id));
  const params = { cwd: process.cwd(), mcpServers: [] };
  const { promptCapabilities = {}, sessionCapabilities = {} } = agentCapabilities;
  const blocks = await attachments(flags, agent, promptCapabilities);
  const opened =
    resumed === undefined
      ? await openSession(client, params)
      : await takeUpSession(client, resumed, params, { agent, capabilities: agentCapabilities, replaying: run.replaying });
  if (opened.before !== undefined)
    notice(`agent "${agent}" cannot reopen sessions: its new session ${opened.sessionId} starts with the transcript of ${resumed}`);
  run.say(`session: ${opened.sessionId}`);
  const ended = promptSession(client, turns, opened, blocks, run);
  // A session opened without a prompt is not worth keeping.
  return ended.finally(
    () => (resumed ?? flags.saveSession) === undefined && !turns.hasBegun() && discard(client, opened.sessionId, sessionCapabilities),
  );
}

async function promptSession(client: Client, turns: Turns, opened: Opened, blocks: PromptBlocks, run: RunParams): Promise<number> {
  const { prompts, prompt, flags, settings, commands } = run;
  const { sessionId, before } = opened;
  if (flags.saveSession !== undefined) await saveSession(flags.saveSession, sessionId);
  if (flags.mode !== undefined) await setMode(client, opened, flags.mode);
  for (const setting of settings) await setOption(client, opened, setting);
  if (flags.listCommands) {
    await commands;
    return EXIT.ok;
  }
  const earlier: PromptBlocks = before === undefined ? [] : [{ type: 'text', text: before, annotations: { audience: ['assistant'] } }];
  const code = prompt === '' ? EXIT.ok : await turns.prompt(sessionId, [...earlier, { type: 'text', text: prompt }, ...blocks]);
  if (!flags.interactive) return code;
  let first = prompt === '' ? earlier : [];
  for await (const line of prompts.lines()) {
    await turns.prompt(sessionId, [...first, { type: 'text', text: line }]);
    first = [];
  }
  return EXIT.ok;
}

/** Forgets a session without prompts, here and at the agent. Does not wait for the agent. */
export function discard(client: Client, sessionId: string, sessionCapabilities: unknown): void {
  const canDelete = (sessionCapabilities as { delete?: unknown } | null)?.delete ?? false;
  if (canDelete !== false) client.request('session/delete', { sessionId }).catch(() => {});
  const log = createSessionStore(surroundings({}).stateDir, () => {});
  const record = log.records().get(sessionId);
  if (record) log.append({ ...record, at: new Date().toISOString(), isGone: true });
}

/** Until the next version, `--config key=value` still sets an option of the session. */
function configFlags({ config = [], option = [] }: RunFlags): { readonly file: string | undefined; readonly settings: readonly string[] } {
  const old = config.filter((value) => value.includes('=') && !existsSync(value));
  for (const setting of old) notice(`--config ${setting} sets a session option: from the next version on, use --option ${setting}`);
  const [file, other] = new Set(config.filter((value) => !old.includes(value)));
  if (other !== undefined)
    throw new CommandFailure(EXIT.usage, '--config is given twice, with different values', 'give it once, before or after the command');
  return { file, settings: [...old, ...option] };
}

async function inTime<T>(work: Promise<T>, seconds: number | undefined, what = 'the turn did not finish'): Promise<T> {
  if (seconds === undefined) return work;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new CommandFailure(EXIT.timeout, `${what} within ${seconds} s`, 'raise --timeout')), seconds * 1000);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function createSignal(): { readonly wait: Promise<void>; readonly given: () => void } {
  let given = () => {};
  const wait = new Promise<void>((resolve) => {
    given = resolve;
  });
  return { wait, given: () => given() };
}
