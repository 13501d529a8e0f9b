// `switchboard sessions attach ID`: a session of the daemon in the terminal, live. Each line is a prompt, or the answer to an open permission
// request.
import readline from 'node:readline';
import { META_KEY } from '../../acp/shapes.ts';
import { VERSION } from '../../app/package-files.ts';
import { type Client, createClient } from '../../client/client.ts';
import { describePermission, permissionLines } from '../../client/describe-permission.ts';
import { fields } from '../../json-object.ts';
import { connectRemote } from '../../transports/connect-remote.ts';
import { CommandFailure } from '../failure.ts';
import { findSession } from '../records/sessions.ts';
import { surroundings } from '../resolve-config.ts';
import { keyed, type Offered, titleOf } from '../run/ask-person.ts';
import { createPaint, type Paint } from '../run/paint.ts';
import { createTextOutput, type TurnOutput } from '../run/text-output.ts';
import { MAX_FRAME_BYTES, remoteOf } from '../serve/acp-connect.ts';
import { runningDaemon } from './daemon-file.ts';
import { localToken } from './local-token.ts';

/** A permission request that waits for a line. */
type Waiting = { readonly answers: ReadonlyMap<string, string>; readonly answer: (optionId: string | undefined) => void };

export async function attachSession(id: string): Promise<number> {
  const { stateDir } = surroundings({});
  const daemon = runningDaemon(stateDir);
  if (!daemon)
    throw new CommandFailure(
      4,
      'no daemon runs',
      'to start one, run: switchboard serve --background; for the transcript of any session, run: switchboard sessions show ID',
    );
  const { sessionId, cwd } = findSession(id);
  const transport = connectRemote(remoteOf(daemon.address, localToken(stateDir)), { maxFrameBytes: MAX_FRAME_BYTES });
  const isTerminal = process.stdout.isTTY === true;
  const paint = createPaint(isTerminal, process.env);
  const output = createTextOutput((text) => void process.stdout.write(text), paint);
  const waiting: Waiting[] = [];
  let running = 0;
  const client = createClient(transport.fromAgent, transport.toAgent, {
    notification(method, params) {
      const { update, sessionId: of } = fields(params);
      if (method === 'session/update' && of === sessionId)
        show(output, paint, fields(update), (change) => (running = Math.max(0, running + change)));
    },
    async request(method, params, signal) {
      if (method !== 'session/request_permission') throw new Error(`Method not found: ${method}`);
      return askHere(output, paint, waiting, params, signal);
    },
  });
  const gone = client.closed.then(() => {
    throw new CommandFailure(
      1,
      `the daemon at ${daemon.address} has closed the connection`,
      'to see whether it runs: switchboard serve status',
    );
  });
  gone.catch(() => {}); // it may close after the end
  try {
    return await Promise.race([gone, attached(client, { sessionId, cwd, output, paint, waiting, isRunning: () => running > 0 })]);
  } finally {
    await transport.stop();
  }
}

type Attached = {
  readonly sessionId: string;
  readonly cwd: string | undefined;
  readonly output: TurnOutput;
  readonly paint: Paint;
  readonly waiting: Waiting[];
  readonly isRunning: () => boolean;
};

async function attached(client: Client, { sessionId, cwd, output, paint, waiting, isRunning }: Attached): Promise<number> {
  await client.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: {},
    clientInfo: { name: 'switchboard sessions attach', version: VERSION },
  });
  const _meta = { [META_KEY]: { attach: true } };
  const opened = await client.request('session/load', { sessionId, cwd: cwd ?? process.cwd(), mcpServers: [], _meta });
  const { clients, turn } = fields(fields(fields(opened)._meta)[META_KEY]);
  output.end();
  output.tagged(
    'attached',
    `${sessionId}${clients === undefined ? '' : `, clients: ${clients}`}${turn === 'running' ? ', a turn runs' : ''}`,
  );
  const lines = readline.createInterface({ input: process.stdin, ...(process.stdin.isTTY && { output: process.stderr }), prompt: '> ' });
  const cancelOrLeave = () => {
    if (!isRunning() && turns.size === 0) return lines.close();
    client.notify('session/cancel', { sessionId });
  };
  const turns = new Set<Promise<void>>();
  lines.on('SIGINT', cancelOrLeave);
  process.on('SIGINT', cancelOrLeave);
  for await (const line of lines) {
    const [question] = waiting;
    const text = line.trim();
    if (question) {
      if (!question.answers.has(text)) output.tagged('permission', `type one of: ${[...question.answers.keys()].join(', ')}`);
      else {
        waiting.shift();
        question.answer(question.answers.get(text));
      }
    } else if (text !== '') {
      const ended = promptTurn(client, sessionId, text, output, paint).finally(() => turns.delete(ended));
      turns.add(ended);
    }
  }
  process.off('SIGINT', cancelOrLeave);
  await Promise.all(turns); // the end of piped input does not cancel a turn
  return 0;
}

async function promptTurn(client: Client, sessionId: string, text: string, output: TurnOutput, paint: Paint): Promise<void> {
  try {
    const { stopReason } = fields(await client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }));
    output.end();
    if (stopReason !== 'end_turn') output.tagged('stopped', String(stopReason));
  } catch (error) {
    output.tagged('failed', paint.foreign((error as Error).message));
  }
}

/** `changed` counts the turns of other clients. */
function show(output: TurnOutput, paint: Paint, update: Readonly<Record<string, unknown>>, changed: (by: number) => void): void {
  const { sessionUpdate, content, stopReason } = update;
  if (sessionUpdate === 'user_message_chunk') output.tagged('user', paint.foreign(String(fields(content).text ?? fields(content).type)));
  else if (sessionUpdate === 'prompt_received') changed(1);
  else if (sessionUpdate === 'turn_complete') {
    changed(-1);
    output.tagged('turn ended', paint.foreign(String(stopReason)));
  } else output.update(update);
}

async function askHere(output: TurnOutput, paint: Paint, waiting: Waiting[], params: unknown, signal: AbortSignal): Promise<unknown> {
  const { options } = fields(params);
  const choices = keyed((Array.isArray(options) ? options : []) as readonly Offered[]);
  const described = describePermission(params);
  const [first = '', ...others] = permissionLines({ ...described, title: await titleOf(params, described.title) });
  output.end();
  output.tagged('permission', paint.foreign(first));
  for (const line of others) process.stdout.write(`  ${paint.foreign(line)}\n`);
  for (const { key, name } of choices) process.stdout.write(`  ${paint.bold(key)}  ${paint.foreign(name)}\n`);
  const optionId = await new Promise<string | undefined>((resolve) => {
    const one: Waiting = { answers: new Map(choices.map(({ key, optionId: id }) => [key, id])), answer: resolve };
    waiting.push(one);
    signal.addEventListener('abort', () => {
      if (!waiting.includes(one)) return;
      waiting.splice(waiting.indexOf(one), 1);
      output.tagged('permission', 'answered elsewhere');
      resolve(undefined);
    });
  });
  return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
}
