// A project, a home and a session of the built command with one contained agent that runs the scripts it is given.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { removeDirectory } from '../remove-directory.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const NOBODY = 65_534;
const AGENT = path.join(ROOT, 'test/fixtures/runs-scripts.mjs');

// biome-ignore lint/suspicious/noExplicitAny: the tests look at frames of many shapes
type Json = any;
export type Message = {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Json;
  readonly result?: Json;
  readonly error?: Json;
};

type Places = { readonly base: string; readonly project: string; readonly home: string; readonly state: string };

export type SandboxSession = Places & {
  /** Everything that switchboard has written to stderr. */
  stderr(): string;
  readonly child: ChildProcess;
  readonly sessionId: string;
  /** What the agent's script prints, with `exit CODE` at the end. */
  run(script: string): Promise<string>;
  call(method: string, params: object): Promise<Message>;
  /** Messages from switchboard that are not answers. */
  readonly seen: readonly Message[];
  /** Answers requests of switchboard, such as a permission request. */
  answer: (message: Message) => object | Promise<object> | undefined;
  stop(): Promise<number | null>;
  /** Another switchboard in the same place, which loads the session. */
  again(): Promise<SandboxSession & AsyncDisposable>;
};

export type SandboxSessionOptions = {
  readonly sandbox?: unknown;
  readonly policy?: unknown;
  readonly config?: Record<string, unknown>;
  readonly agent?: Record<string, unknown>;
  readonly agentArgs?: readonly string[];
  readonly flags?: readonly string[];
  readonly env?: Record<string, string> | ((places: Places) => Record<string, string>);
  /** The session of an earlier one. */
  readonly resume?: Places & { readonly sessionId: string };
  /** Else root becomes an ordinary user, so that both kinds are tested. */
  readonly asRoot?: boolean;
  /** Puts files into the project and the home directory. */
  readonly prepare?: (places: Places) => void;
};

export function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Opens a session; rejects with the error if the agent does not start. */
export async function openSandboxSession(options: SandboxSessionOptions = {}): Promise<SandboxSession & AsyncDisposable> {
  const { resume } = options;
  const base = resume?.base ?? realpathSync(mkdtempSync(path.join(os.tmpdir(), 'sandbox-test-')));
  const in_ = (name: string) => path.join(base, name);
  const places: Places = { base, project: in_('project'), home: in_('home'), state: in_('state') };
  if (!resume) {
    chmodSync(base, 0o755);
    for (const directory of [places.project, places.home, places.state]) mkdirSync(directory);
    options.prepare?.(places);
  }
  const config = in_('config.jsonc');
  const agent = { command: process.execPath, args: [AGENT, ...(options.agentArgs ?? [])], ...options.agent };
  const sandbox = options.sandbox === undefined ? {} : { sandbox: options.sandbox };
  const policy = options.policy === undefined ? {} : { policy: options.policy };
  write(config, JSON.stringify({ agent_servers: { scripts: { ...agent, ...sandbox } }, ...policy, ...options.config }));
  const isLowered = process.getuid?.() === 0 && options.asRoot !== true;
  if (isLowered && !resume) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, base]);
  const child = spawn(process.execPath, [path.join(ROOT, 'bin/switchboard.js'), 'acp', '--config', config, ...(options.flags ?? [])], {
    cwd: places.project,
    env: {
      ...process.env,
      HOME: places.home,
      SWITCHBOARD_HOME: places.state,
      XDG_CONFIG_HOME: path.join(places.home, '.config'),
      ...(typeof options.env === 'function' ? options.env(places) : options.env),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(isLowered && { uid: NOBODY, gid: NOBODY }),
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdin.on('error', () => {});
  const waiting = new Map<number, (message: Message) => void>();
  const seen: Message[] = [];
  let lastId = 0;
  const send = (message: object) => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const call = (method: string, params: object): Promise<Message> =>
    new Promise((resolve) => {
      const id = ++lastId;
      waiting.set(id, resolve);
      send({ id, method, params });
    });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    if (message.method === undefined) return void waiting.get(message.id as number)?.(message);
    seen.push(message);
    if (message.id === undefined) return;
    void Promise.resolve(made.answer(message) ?? { error: { code: -32601, message: 'unknown' } }).then((answer) =>
      send({ id: message.id, ...answer }),
    );
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const made = {
    ...places,
    call,
    seen,
    child,
    sessionId: '',
    stderr: () => stderr,
    answer: (() => undefined) as SandboxSession['answer'],
    async run(script: string) {
      const from = seen.length;
      const { result, error } = await call('session/prompt', { sessionId: made.sessionId, prompt: [{ type: 'text', text: script }] });
      if (error) throw new Error(`${error.message}\n${stderr}`);
      if (result.stopReason !== 'end_turn') throw new Error(result.stopReason);
      return seen
        .slice(from)
        .flatMap(({ params }) => (params?.update?.sessionUpdate === 'agent_message_chunk' ? [params.update.content.text] : []))
        .join('');
    },
    stop() {
      child.stdin.end();
      return exited;
    },
    again: () => openSandboxSession({ ...options, resume: { ...places, sessionId: made.sessionId } }),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) await made.stop();
      await removeDirectory(base);
    },
  };
  await call('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const opened = resume
    ? await call('session/load', { sessionId: resume.sessionId, cwd: places.project, mcpServers: [] })
    : await call('session/new', { cwd: places.project, mcpServers: [] });
  if (opened.error) {
    await made[Symbol.asyncDispose]();
    throw new Error(opened.error.message);
  }
  made.sessionId = resume?.sessionId ?? opened.result.sessionId;
  return made;
}
