// `switchboard run`: a prompt turn from a terminal or a script. It goes through the proxy in this process, so policy, tools and records apply.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { NO_LISTENER } from '../../app/events.ts';
import { VERSION } from '../../app/package-files.ts';
import type { PolicyFlags } from '../../app/policy.ts';
import type { Capabilities, PromptBlocks } from '../../client/acp-methods.ts';
import { type Client, createClient } from '../../client/client.ts';
import { errorCode } from '../../config/watch-files.ts';
import { createLiveCleaner, type LiveCleaner } from '../../redaction/redact-stream.ts';
import { createSessionLog } from '../../store/sessions/session-store.ts';
import { CommandFailure } from '../failure.ts';
import { startInProcessProxy } from '../in-process-proxy.ts';
import { onInterrupts } from '../interrupts.ts';
import { notice } from '../output.ts';
import { surroundings } from '../resolve-config.ts';
import { askPerson, type Offered, refusal } from './ask-person.ts';
import { type AttachmentFlags, attachments } from './attachments.ts';
import { createRefused, describeFailure } from './explain-failure.ts';
import { createFiles } from './files.ts';
import { type Opened, openSession, setMode, setOption, takeUpSession } from './open-session.ts';
import { createPaint } from './paint.ts';
import { createPrompts, type Prompts, readPrompt } from './prompt-input.ts';
import { createSimpleOutput, createTextOutput, type TurnOutput } from './text-output.ts';

/** Forgets a session without prompts, here and at the agent. Does not wait for the agent. */
export function discard(client: Client, sessionId: string, sessionCapabilities: unknown): void {
  const canDelete = (sessionCapabilities as { delete?: unknown } | null)?.delete ?? false;
  if (canDelete !== false) client.request('session/delete', { sessionId }).catch(() => {});
  const log = createSessionLog(surroundings({}).stateDir, () => {});
  const record = log.records().get(sessionId);
  if (record) log.append({ ...record, at: new Date().toISOString(), isGone: true });
}

// The failure that ends the command usually repeats the message about the agent's exit. To print it once, messages about agents
// wait until it is clear whether the turn continues.
export type HeldBack = {
  say(text: string): void;
  /** The turn continues: print the messages. */
  release(): void;
  /** Prints the messages that the failure does not contain. */
  releaseAttached(failure: string): void;
};

export function createHeldBack(say: (text: string) => void): HeldBack {
  let held: string[] = [];
  function release(isTold: (text: string) => boolean): void {
    const texts = held;
    held = [];
    for (const text of texts) if (!isTold(text)) say(text);
  }
  return {
    say(text) {
      if (!text.startsWith('Agent "')) say(text);
      else if (!held.includes(text)) held.push(text);
    },
    release: () => release(() => false),
    releaseAttached: (failure) => release((text) => failure.includes(text)),
  };
}

export type RunFlags = PolicyFlags &
  AttachmentFlags & {
    readonly agent?: string;
    readonly output: 'text' | 'simple' | 'jsonl' | 'json';
    readonly write?: true;
    readonly yolo?: true;
    readonly resume?: string;
    readonly saveSession?: string;
    readonly listCommands?: true;
    readonly mode?: string;
    /** The configuration file, and options of the session as KEY=VALUE. */
    readonly config?: readonly string[];
    readonly timeout?: number;
    readonly interactive?: true;
  };

/** Agents announce commands on their own; an agent without commands may never do so. */
const COMMANDS_S = 30;

const EXIT = { ok: 0, failed: 1, usage: 2, timeout: 3, interrupted: 130 } as const;

export async function run(words: readonly string[], flags: RunFlags): Promise<number> {
  const isAtTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true;
  if (flags.interactive && !isAtTerminal)
    throw new CommandFailure(EXIT.usage, '-i needs a terminal', 'without -i, pass the prompt as an argument or on stdin');
  const prompt = flags.listCommands || flags.interactive ? words.join(' ') : await readPrompt(words, process.stdin);
  const { file, settings } = configFlags(flags.config);
  const canWrite = flags.write === true || flags.yolo === true;
  const prompts = createPrompts();
  const heldBack = createHeldBack((text) => prompts.show(text, (shown) => notice(shown.trimEnd())));
  const refused = createRefused((text) => notice(proxy.secrets.redact(text)));
  const proxy = await startInProcessProxy(
    { ...flags, config: file, isInteractive: isAtTerminal, onlyFirst: flags.resume === undefined },
    {
      isReadOnly: !canWrite,
      notify: heldBack.say,
      events: { ...NO_LISTENER, onDecision: (entry) => !isAtTerminal && refused.decided(entry) },
    },
  );
  const { agents, defaultAgent } = proxy.config;
  const owner = flags.resume === undefined ? undefined : ownerOf(flags.resume);
  const agent = agents.length === 1 ? (agents[0]?.name ?? '') : (agents.find(({ name }) => name === owner)?.name ?? defaultAgent);
  const clean = createLiveCleaner(proxy.secrets);
  const screen = createScreen(flags.output, clean, (text) => prompts.show(text, (shown) => void process.stdout.write(shown)));
  screen.selected(agent, agents.find(({ name }) => name === agent)?.command);
  const files = createFiles(process.cwd(), { canWrite, canReadAll: flags.yolo === true });
  const commands = createSignal();
  const client = createClient(proxy.fromProxy, proxy.toProxy, {
    ...(screen.line && { line: screen.line }),
    notification(method, params) {
      if (method !== 'session/update') return;
      heldBack.release();
      screen.update({ method, params });
      const { update } = (params ?? {}) as { update?: { sessionUpdate?: unknown } };
      if (update?.sessionUpdate === 'available_commands_update') commands.given();
    },
    request(method, params, signal) {
      if (method !== 'session/request_permission') return files.serve(method, params);
      screen.output.end();
      const { options = [] } = (params ?? {}) as { options?: readonly Offered[] };
      const paint = createPaint(process.stderr.isTTY === true, process.env);
      const shown = { ...(clean({ method, params }).params as object), options };
      if (isAtTerminal) return askPerson({ input: process.stdin, output: process.stderr }, paint, shown, signal);
      refused.unanswered(params);
      return refusal(options);
    },
  });
  const turns = createTurns(client, screen.output);
  let logins: readonly string[] = [];
  const interrupts = onInterrupts(turns.cancel, proxy.kill);
  try {
    const work = runSession(client, turns, {
      agent,
      prompts,
      prompt,
      flags,
      settings,
      commands: commands.wait,
      capabilities: files.capabilities,
      offered(methods) {
        logins = methods;
      },
    });
    const [seconds, what] = flags.listCommands ? [flags.timeout ?? COMMANDS_S, `agent "${agent}" announced no commands`] : [flags.timeout];
    return await inTime(Promise.race([work, interrupts.ended]), seconds, what);
  } catch (error) {
    const failure = describeFailure(error, agent, proxy.secrets.redact, logins);
    if (failure instanceof Error) heldBack.releaseAttached(failure.message);
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

/** The agent that opened a session, if it is recorded. */
function ownerOf(sessionId: string): string | undefined {
  return createSessionLog(surroundings({}).stateDir, () => {})
    .records()
    .get(sessionId)?.agent;
}

type RunParams = {
  readonly agent: string;
  readonly prompts: Prompts;
  readonly prompt: string;
  readonly flags: RunFlags;
  readonly settings: readonly string[];
  readonly commands: Promise<void>;
  readonly capabilities: Capabilities;
  /** Receives the ids of the offered login methods. */
  readonly offered: (methods: readonly string[]) => void;
};

type RunInput = Omit<RunParams, 'agent' | 'capabilities' | 'offered'> & { readonly blocks: PromptBlocks };

async function runSession(client: Client, turns: Turns, run: RunParams): Promise<number> {
  const { agent, prompts, prompt, flags, settings, commands, capabilities, offered } = run;
  const { agentCapabilities = {}, authMethods } = await client.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: capabilities,
    clientInfo: { name: 'switchboard-run', title: 'switchboard run', version: VERSION },
  });
  offered((authMethods ?? []).map(({ id }) => id));
  const params = { cwd: process.cwd(), mcpServers: [] };
  const { promptCapabilities = {}, sessionCapabilities = {} } = agentCapabilities;
  const blocks = await attachments(flags, agent, promptCapabilities);
  const opened =
    flags.resume === undefined ? await openSession(client, params) : await takeUpSession(client, flags.resume, params, agentCapabilities);
  const ended = promptSession(client, turns, opened, { prompts, prompt, flags, settings, commands, blocks });
  // A session opened without a prompt is not worth keeping.
  return ended.finally(
    () => (flags.resume ?? flags.saveSession) === undefined && !turns.hasBegun() && discard(client, opened.sessionId, sessionCapabilities),
  );
}

async function promptSession(client: Client, turns: Turns, opened: Opened, input: RunInput): Promise<number> {
  const { prompts, prompt, flags, settings, commands, blocks } = input;
  if (flags.saveSession !== undefined) await save(flags.saveSession, opened.sessionId);
  if (flags.mode !== undefined) await setMode(client, opened, flags.mode);
  for (const setting of settings) await setOption(client, opened, setting);
  if (flags.listCommands) {
    await commands;
    return EXIT.ok;
  }
  const code = prompt === '' ? EXIT.ok : await turns.prompt(opened, [{ type: 'text', text: prompt }, ...blocks]);
  if (!flags.interactive) return code;
  for await (const line of prompts.lines()) await turns.prompt(opened, [{ type: 'text', text: line }]);
  return EXIT.ok;
}

/** `--config` is the configuration file, or an option of the session. */
function configFlags(given: RunFlags['config'] = []): { readonly file: string | undefined; readonly settings: readonly string[] } {
  const settings = given.filter((value) => value.includes('=') && !existsSync(value));
  const [file] = given.filter((value) => !settings.includes(value));
  return { file, settings };
}

/** Where output goes, redacted: formatted for a person, only the assistant's text, or every frame. */
function createScreen(kind: RunFlags['output'], clean: LiveCleaner, write: (text: string) => void) {
  const paint = createPaint(process.stdout.isTTY === true, process.env);
  const isFrames = kind === 'jsonl' || kind === 'json';
  const output = kind === 'text' ? createTextOutput(write, paint) : createSimpleOutput(isFrames ? () => {} : write, paint);
  return {
    output,
    update(message: Readonly<Record<string, unknown>>): void {
      if (!isFrames) output.update((clean(message).params as { update?: unknown } | undefined)?.update);
    },
    line: isFrames ? (_: string, line: string) => write(`${cleanLine(line, clean)}\n`) : undefined,
    /** Without arguments and environment, which may contain secrets. */
    selected(name: string, command: string | undefined): void {
      if (isFrames) write(`${JSON.stringify({ jsonrpc: '2.0', method: 'client/selected_agent', params: { name, command } })}\n`);
    },
  };
}

/** Unchanged if nothing needs redaction. */
function cleanLine(line: string, clean: LiveCleaner): string {
  const message = JSON.parse(line);
  const shown = JSON.stringify(clean(message));
  return shown === JSON.stringify(message) ? line : shown;
}

type Turns = {
  /** Whether a prompt was sent. */
  hasBegun(): boolean;
  prompt(opened: Opened, blocks: PromptBlocks): Promise<number>;
  /** Whether there was a turn to cancel that was not already cancelled. */
  cancel(): boolean;
};

function createTurns(client: Client, output: TurnOutput): Turns {
  let current: string | undefined;
  let hasBegun = false;
  return {
    hasBegun: () => hasBegun,
    async prompt({ sessionId }, blocks) {
      current = sessionId;
      hasBegun = true;
      try {
        const { stopReason } = await client.request('session/prompt', { sessionId, prompt: blocks });
        output.end();
        if (stopReason !== 'end_turn') output.tagged('stopped', stopReason ?? 'no reason given');
        return stopReason === 'cancelled' ? EXIT.interrupted : EXIT.ok;
      } finally {
        current = undefined;
      }
    },
    cancel() {
      if (current === undefined) return false;
      client.notify('session/cancel', { sessionId: current });
      current = undefined;
      return true;
    },
  };
}

async function inTime<T>(work: Promise<T>, seconds: number | undefined, what = 'did not finish'): Promise<T> {
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

async function save(file: string, sessionId: string): Promise<void> {
  try {
    await writeFile(file, `${sessionId}\n`);
  } catch (error) {
    throw new CommandFailure(EXIT.failed, `cannot write the session id to ${file} (${errorCode(error)})`, 'check --save-session');
  }
}
