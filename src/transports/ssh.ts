// An agent on another machine, through OpenSSH: its stdio is that of the local ssh process.
import { randomUUID } from 'node:crypto';
import { withoutControls } from '../control-characters.ts';
import { LF } from '../wire/frame.ts';
import { type ChildOptions, type Command, startChildProcess } from './child-process.ts';
import { pendingStreams } from './pending-streams.ts';
import { type RemoteProgram, type SshHost, settingsLine, sshArguments, whyLost, whyNoSsh } from './ssh-command.ts';
import { summaryLine } from './stderr-tail.ts';
import { type Exit, onceExited, type Transport } from './transport.ts';

export type SshOptions = Omit<ChildOptions, 'sandbox' | 'graceMs'> & {
  /** The environment of the local ssh process. */
  readonly env: Command['env'];
  /** Redacts a line of noise before it is kept. */
  readonly redact?: ((line: string) => string) | undefined;
};

/** `ready`: the remote script runs and waits for its settings. */
type State = 'connecting' | 'ready' | 'started' | 'failed';

/** The exit code of ssh itself. */
const SSH_FAILED = 255;
const MAX_NOISE_LINES = 20;
const MAX_NOISE_CHARACTERS = 500;
/** A login shell may print a few lines before the agent starts. More than this comes from a program that never ends. */
const MAX_NOISE_BYTES = 1 << 20;

export function startSsh(
  at: SshHost,
  program: RemoteProgram,
  { env, clean, onStderrLine, redact = (line) => line }: SshOptions,
): Transport {
  const mark = `switchboard-${randomUUID()}`;
  const local = { command: 'ssh', args: sshArguments(at, mark, program), env, cwd: undefined, configKey: at.configKey };
  const child = startChildProcess(local, { graceMs: program.graceMs, clean, onStderrLine });
  const exit = onceExited();
  const streams = pendingStreams();
  const noise: string[] = [];
  let state: State = 'connecting';
  let whyFailed = '';
  const rest: Buffer[] = [];
  let noiseBytes = 0;

  function early(chunk: Buffer): void {
    let at = 0;
    while (state !== 'started' && state !== 'failed') {
      const end = chunk.indexOf(LF, at);
      if (end === -1) break;
      line(Buffer.concat([...rest.splice(0), chunk.subarray(at, end)]).toString());
      at = end + 1;
    }
    if (state === 'started') return open(chunk.subarray(at));
    noiseBytes += chunk.length;
    if (noiseBytes > MAX_NOISE_BYTES) {
      state = 'failed';
      whyFailed = 'its shell prints without end';
      return child.kill();
    }
    rest.push(chunk.subarray(at));
  }
  function line(text: string): void {
    const status = text.startsWith(`${mark} `) ? text.slice(mark.length + 1) : undefined;
    if (status === undefined) return report(text);
    if (status === 'ready') {
      state = 'ready';
      child.toAgent.write(Buffer.from(settingsLine(program.env)));
    } else if (status === 'started') state = 'started';
    else {
      state = 'failed';
      whyFailed = status === 'directory' ? `its cwd does not exist there: ${program.cwd}` : 'the command was not found there';
    }
  }
  /** The output of the remote shell's start-up files. */
  function report(text: string): void {
    const shown = withoutControls(text).trim().slice(0, MAX_NOISE_CHARACTERS);
    if (shown === '' || noise.length >= MAX_NOISE_LINES) return;
    const message = `ignored output of the remote shell: ${shown}`;
    noise.push(redact(message));
    onStderrLine?.(message);
  }
  let forward = early;
  function open(first: Buffer): void {
    const listeners: ((chunk: Buffer) => void)[] = [];
    forward = (chunk) => {
      for (const listener of listeners) listener(chunk);
    };
    const source = {
      on: (event: string, listener: (...args: never[]) => void) =>
        event === 'data' ? listeners.push(listener as never) : child.fromAgent.on(event, listener as () => void),
      pause: () => child.fromAgent.pause(),
      resume: () => child.fromAgent.resume(),
    };
    streams.open({ source, sink: child.toAgent });
    if (first.length > 0) forward(first);
  }
  child.fromAgent.on('data', (chunk: Buffer) => forward(chunk));
  child.onExit((how) => {
    streams.ended();
    exit.happened(outcome(how));
  });

  function outcome(how: Exit): Exit {
    if (how.kind !== 'exited')
      return { ...how, ...(how.kind === 'unstartable' && { next: 'Install OpenSSH: agents with "ssh" need its client' }) };
    const failed = { why: whyFailed, next: `Check "${whyFailed.includes('cwd') ? 'cwd' : 'command'}" in ${at.configKey}` };
    if (state === 'failed') return { kind: 'unreachable', ...failed };
    if (how.signal !== null) return { kind: 'disconnected', why: `ssh was ended by ${how.signal}` };
    if (state === 'started') return how.code === SSH_FAILED ? { kind: 'disconnected', why: whyLost(child.stderrTail()) } : how;
    if (how.code === SSH_FAILED) return { kind: 'unreachable', ...whyNoSsh(at, child.stderrTail()) };
    const lastLine = summaryLine(child.stderrTail());
    return {
      kind: 'unreachable',
      why: `its shell did not run sh (${lastLine ?? `exit code ${how.code}`})`,
      next: `Try: ssh ${at.host} sh -c true`,
    };
  }
  return {
    fromAgent: streams.source,
    toAgent: streams.sink,
    pid: child.pid,
    stderrTail: (withinMs) => [...(withinMs === undefined ? noise : []), ...child.stderrTail(withinMs)],
    onExit: exit.listen,
    stop: child.stop,
    kill: child.kill,
  };
}
