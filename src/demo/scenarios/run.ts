// Runs a command in a terminal of the client, after a permission request.
import { type CreateTerminalRequest, methods, type TerminalHandle } from '@agentclientprotocol/sdk';
import { requestPermission } from '../request-permission.ts';
import type { ShownToolCall, Turn } from '../turn.ts';
import { type Scenario, ScenarioFailure } from './scenario.ts';
export const run: Scenario = async (turn, { rest }) => {
  const [command, ...args] = wordsOf(rest);
  if (command === undefined) throw new ScenarioFailure('Which command? Try /run ls.');
  if (turn.clientCapabilities.terminal !== true) throw new ScenarioFailure('I am sorry, your editor has no terminal for me.');
  const { sessionId, cwd } = turn.session.record;

  const call = { title: `Run ${rest}`, kind: 'execute' as const, rawInput: { command, args, cwd } };
  const shown = await turn.toolCall({ ...call, status: 'pending' });
  if (!(await requestPermission(turn, { toolCallId: shown.toolCallId, ...call, status: 'pending' }))) {
    await shown.update({ status: 'failed' });
    await turn.send(`As you wish: I did not run ${rest}.`);
    return;
  }
  const terminal = await createTerminal(turn, { sessionId, command, args, cwd });
  try {
    await watch(turn, shown, terminal);
  } finally {
    release(terminal);
  }
};

/** A cancelled turn does not wait for its terminal. If the terminal arrives later, it is released. */
function createTerminal({ client, signal }: Turn, params: CreateTerminalRequest): Promise<TerminalHandle> {
  const creating = client.createTerminal(params);
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      reject(signal.reason);
      creating.then(release, () => {});
    };
    signal.addEventListener('abort', giveUp, { once: true });
    creating.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

/** Also stops a running command. The answer does not matter; the client may have left. */
function release(terminal: TerminalHandle): void {
  terminal.release().catch(() => {});
}

async function watch(turn: Turn, shown: ShownToolCall, terminal: TerminalHandle): Promise<void> {
  const { sessionId } = turn.session.record;
  await shown.update({ status: 'in_progress', content: [{ type: 'terminal', terminalId: terminal.id }] });
  // Not terminal.waitForExit() and currentOutput(): in SDK 2.4.0 they take no signal, and a cancelled turn must not wait for the command.
  const { exitCode, signal } = await turn.request(methods.client.terminal.waitForExit, { sessionId, terminalId: terminal.id });
  const { output, truncated } = await turn.request(methods.client.terminal.output, { sessionId, terminalId: terminal.id });
  await shown.update({
    status: exitCode === 0 ? 'completed' : 'failed',
    rawOutput: { output, truncated, exitCode: exitCode ?? null, signal: signal ?? null },
  });
  const ending = typeof signal === 'string' ? `was ended by ${signal}` : `ended with exit code ${exitCode ?? 'unknown'}`;
  await turn.send(`The command ${ending} and said:\n${output}`);
}

/** Splits at spaces, except inside "…" and '…'. No shell: the words run as given. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? '');
}
