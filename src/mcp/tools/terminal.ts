// Commands, in the client's own terminals if it has them, so that the user sees them run.
import {
  type CallContext,
  type HostTool,
  object,
  type TerminalOutput,
  type Terminals,
  ToolFailure,
  type ToolOutcome,
  text,
} from '../server/tool.ts';
import { inside } from './files.ts';

const DEFAULT_WAIT_MS = 60_000;
const MAX_WAIT_MS = 10 * 60_000;
const OUTPUT_BYTES = 256 * 1024;

const base = { server: 'switchboard', needs: ['terminal'] as const };
const ID = { terminal_id: { type: 'string', description: 'As run_command has named it.' } };

export const terminalTools: readonly HostTool[] = [
  {
    ...base,
    name: 'run_command',
    title: 'Run a command',
    description:
      'Runs a program and gives its output. No shell is in between: `args` arrive as they are. One that still runs after `wait_ms` goes on; its `terminal_id` is for command_output and kill_command.',
    inputSchema: object(
      {
        command: { type: 'string', minLength: 1, description: 'The program.' },
        args: { type: 'array', items: { type: 'string' } },
        cwd: { type: 'string', description: "Where it runs; the session's directory unless given." },
        wait_ms: { type: 'integer', minimum: 0, maximum: MAX_WAIT_MS, default: DEFAULT_WAIT_MS },
      },
      ['command'],
    ),
    effect: 'execute',
    timeoutMs: MAX_WAIT_MS + 30_000,
    async run(args, context) {
      const terminals = terminalsOf(context);
      const cwd = await inside(context.host, typeof args.cwd === 'string' ? args.cwd : '.');
      const given = Array.isArray(args.args) ? args.args.map(String) : [];
      const { terminalId } = await terminals
        .create({ command: String(args.command), args: given, cwd, outputByteLimit: OUTPUT_BYTES }, context.signal)
        .catch(asToolFailure);
      const waitMs = typeof args.wait_ms === 'number' ? args.wait_ms : DEFAULT_WAIT_MS;
      const isOver = await ended(terminals, terminalId, waitMs, context.signal);
      const output = await terminals.output({ terminalId }).catch(asToolFailure);
      if (isOver) await terminals.release({ terminalId }).catch(asToolFailure);
      return shown(terminalId, output, isOver);
    },
  },
  {
    ...base,
    name: 'command_output',
    title: 'Output of a running command',
    description: 'The output so far of a command that run_command left running, and whether it has ended.',
    inputSchema: object(ID, ['terminal_id']),
    effect: 'read',
    timeoutMs: 30_000,
    async run(args, context) {
      const terminalId = String(args.terminal_id);
      const output = await terminalsOf(context).output({ terminalId }).catch(asToolFailure);
      return shown(terminalId, output, output.exitStatus !== undefined && output.exitStatus !== null);
    },
  },
  {
    ...base,
    name: 'kill_command',
    title: 'Stop a running command',
    description: 'Stops a command that run_command left running, and returns its last output.',
    inputSchema: object(ID, ['terminal_id']),
    effect: 'read', // it only stops what this session started, which was allowed
    timeoutMs: 30_000,
    async run(args, context) {
      const terminals = terminalsOf(context);
      const terminalId = String(args.terminal_id);
      await terminals.kill({ terminalId }).catch(asToolFailure);
      const output = await terminals.output({ terminalId }).catch(asToolFailure);
      await terminals.release({ terminalId }).catch(asToolFailure);
      return shown(terminalId, output, true);
    },
  },
];

function terminalsOf({ host }: CallContext): Terminals {
  const { terminals } = host.workspace;
  if (!terminals) throw new ToolFailure('this session cannot run commands');
  return terminals;
}

/** Whether it finished in time. Cancelling the call stops the command. */
async function ended(terminals: Terminals, terminalId: string, waitMs: number, signal: AbortSignal): Promise<boolean> {
  const late = AbortSignal.timeout(Math.max(1, waitMs));
  try {
    await terminals.waitForExit({ terminalId }, AbortSignal.any([signal, late]));
    return true;
  } catch (error) {
    if (signal.aborted)
      await terminals.kill({ terminalId }).then(
        () => terminals.release({ terminalId }),
        () => {},
      );
    if (!late.aborted || signal.aborted) return asToolFailure(error);
    return false;
  }
}

function shown(terminalId: string, { output, truncated, exitStatus }: TerminalOutput, isOver: boolean): ToolOutcome {
  const how = !isOver
    ? `[still running; terminal_id: ${terminalId}]`
    : exitStatus?.signal
      ? `[ended by ${exitStatus.signal}]`
      : exitStatus
        ? `[exit code ${exitStatus.exitCode ?? 'unknown'}]`
        : '[ended]';
  const outcome = text(
    `${truncated ? '[the beginning is cut off]\n' : ''}${output}${output === '' || output.endsWith('\n') ? '' : '\n'}${how}`,
  );
  const structuredContent = { terminal_id: terminalId, output, truncated, running: !isOver, exit_code: exitStatus?.exitCode ?? null };
  return { ...outcome, structuredContent };
}

function asToolFailure(error: unknown): never {
  throw error instanceof ToolFailure ? error : new ToolFailure(error instanceof Error ? error.message : String(error), { cause: error });
}
