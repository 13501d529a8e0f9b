// `switchboard compare`: sends one prompt to several agents at once, each in its own session and, with --write, its own directory.

import { inheritedEnvironment } from '../../agents/environment.ts';
import { NO_LISTENER } from '../../app/events.ts';
import { VERSION } from '../../app/package-files.ts';
import type { PolicyFlags } from '../../app/policy.ts';
import type { DescribedPermission } from '../../client/describe-permission.ts';
import { type AgentSessions, openAgentSessions } from '../../client/sessions.ts';
import type { PolicySource } from '../../config/config.ts';
import { redactJson } from '../../redaction/redact-json.ts';
import { CommandFailure } from '../failure.ts';
import { startInProcessProxy } from '../in-process-proxy.ts';
import { onInterrupts } from '../interrupts.ts';
import { notice, printJson } from '../output.ts';
import { type Approval, approvalOf, createApprover } from '../run/approve.ts';
import { describeFailure } from '../run/explain-failure.ts';
import { createFiles, type Files } from '../run/files.ts';
import { createPaint } from '../run/paint.ts';
import { readPrompt } from '../run/prompt-input.ts';
import { createTurnFacts, EXIT, exitCodeOf, type TurnFacts } from '../run/turns.ts';
import { type Outcome, type Place, printReport } from './report.ts';
import { makeDirectories, type WorkDirectories, type WorkDirectory } from './work-directory.ts';

export type CompareFlags = Omit<PolicyFlags, 'isInteractive'> & {
  readonly agent?: readonly string[];
  readonly config?: string;
  readonly write?: true;
  readonly approve?: Approval;
  readonly into?: string;
  readonly discard?: true;
  readonly timeout?: number;
  readonly json?: true;
};

/** The user cannot answer while several agents work. Each may change files in its own directory; policies decide the rest. */
const WITH_WRITE: PolicySource = {
  layer: 'user',
  from: 'switchboard compare --write',
  policy: { version: 1, allow: ['read($cwd/**)', 'search($cwd/**)', 'edit($cwd/**)', 'delete($cwd/**)', 'move($cwd/**)'] },
  isFromTrusted: true,
};

export async function compare(words: readonly string[], flags: CompareFlags): Promise<number> {
  const { agent: wanted, ...rest } = flags;
  if (wanted && new Set(wanted).size < Math.max(2, wanted.length))
    throw new CommandFailure(EXIT.usage, 'compare needs at least two different agents', 'switchboard compare "your prompt" -a ONE -a TWO');
  if ((flags.into !== undefined || flags.discard) && !flags.write)
    throw new CommandFailure(EXIT.usage, '--into and --discard require --write', 'add --write, or remove them');
  const prompt = await readPrompt(words, process.stdin, 'switchboard compare "your prompt" -a ONE -a TWO');
  const refused = new Map<string, string[]>();
  const refuse = (agent: string, what: string) => void refused.set(agent, [...(refused.get(agent) ?? []), what]);
  const facts = new Map<string, TurnFacts>();
  const factsOf = (agent: string): TurnFacts => {
    const known = facts.get(agent) ?? createTurnFacts();
    facts.set(agent, known);
    return known;
  };
  const stalled = new Set<string>();
  const onDecision: typeof NO_LISTENER.onDecision = (entry) => {
    const { agent, verdict, outcome, option, mode, summary } = entry;
    if (verdict !== 'deny' || mode === 'observe') return;
    if (outcome === 'noticed') factsOf(agent).isViolation ||= option === 'cancel' || option === 'kill';
    else if (outcome === 'prevented') refuse(agent, summary);
  };
  const approval = approvalOf(flags);
  const proxy = await startInProcessProxy(
    { ...rest, agents: wanted, isInteractive: approval !== 'none' },
    {
      isReadOnly: !flags.write,
      policies: flags.write ? [WITH_WRITE] : [],
      events: { ...NO_LISTENER, onDecision, onStallCancel: (sessionId) => void stalled.add(sessionId) },
    },
  );
  const over = new AbortController();
  const interrupts = onInterrupts(() => {
    if (over.signal.aborted) return false;
    over.abort();
    return true;
  }, proxy.kill);
  const filesBySession = new Map<string, Files>();
  const canWrite = flags.write === true;
  const agents = openAgentSessions(
    proxy.fromProxy,
    proxy.toProxy,
    { name: 'switchboard-compare', version: VERSION },
    {
      capabilities: { fs: { readTextFile: true, writeTextFile: canWrite }, terminal: false },
      async serve(sessionId, method, params) {
        return filesBySession.get(sessionId)?.serve(method, params);
      },
    },
  );
  try {
    const names = proxy.config.agents.map(({ name }) => name);
    if (names.length < 2)
      throw new CommandFailure(EXIT.usage, 'only one agent is configured', 'to add another, run: switchboard agents add');
    const environment = inheritedEnvironment(process.env, 'all', proxy.config.secretVariables);
    const directories = canWrite ? await makeDirectories(process.cwd(), names, flags.into, environment) : undefined;
    for (const [name, { kind, root }] of directories?.byAgent ?? []) notice(`${name} works in a ${kind}: ${root}`);
    const work = Promise.all(
      proxy.config.agents.map((spec) => {
        const { name } = spec;
        const directory = directories?.byAgent.get(name);
        const cwd = directory?.cwd ?? process.cwd();
        const files = createFiles(cwd, {
          ...{ canWrite, canReadAll: false, agent: spec },
          refusedWrite: (file) => refuse(name, `write ${file}; it is outside the agent's directory`),
        });
        const approver = createApprover(approval, name, cwd);
        const permission = ({ title, options }: DescribedPermission, params: unknown, id: string) => {
          proxy.connection.answersAutomatically(id);
          const approved = approver.choose(params);
          if (approved) return approved.optionId;
          refuse(name, title);
          return options.find(({ kind }) => kind === 'reject_once')?.optionId;
        };
        const opened = (sessionId: string) => filesBySession.set(sessionId, files);
        return takeTurn(agents, name, cwd, prompt, { over: over.signal, timeoutS: flags.timeout, permission, opened }).finally(files.stop);
      }),
    );
    // However it ends, wait until nobody writes to the directories, then keep or remove each by its content.
    const turns = await Promise.race([work, interrupts.ended]).catch(async (error) => {
      await proxy.close();
      await settle(directories, flags);
      throw error;
    });
    const places = await settle(directories, flags);
    const codes = turns.map((turn) => codeOf(turn, { ...factsOf(turn.agent), isRefused: refused.has(turn.agent) }, stalled));
    const outcomes = turns.map(({ exitCode: _, ...turn }, index): Outcome => {
      const place = places.get(turn.agent);
      return { ...turn, ok: codes[index] === EXIT.ok, refused: refused.get(turn.agent) ?? [], ...(place && { directory: place }) };
    });
    const shown = redactJson(outcomes, proxy.secrets.redact) as readonly Outcome[];
    if (flags.json) printJson({ prompt, outcomes: shown });
    else
      printReport(shown, createPaint(process.stdout.isTTY === true, process.env), (text) => {
        process.stdout.write(text);
      });
    if (over.signal.aborted) return EXIT.interrupted;
    return codes.find((code) => code !== EXIT.ok) ?? EXIT.ok;
  } finally {
    agents.close();
    await proxy.close();
    interrupts.stop();
  }
}

type TurnContext = {
  readonly over: AbortSignal;
  readonly timeoutS: number | undefined;
  readonly opened: (sessionId: string) => void;
  readonly permission: (request: DescribedPermission, params: unknown, id: string) => string | undefined;
};

type TurnTaken = Omit<Outcome, 'ok' | 'refused' | 'directory'> & { readonly exitCode: number };

/** A failure of its own first, then what the turn was cancelled or refused for. */
function codeOf({ exitCode, result, sessionId }: TurnTaken, facts: TurnFacts, stalled: ReadonlySet<string>): number {
  if (facts.isViolation) return EXIT.denied;
  if (exitCode !== EXIT.ok) return exitCode;
  return exitCodeOf(result, { ...facts, isStalled: sessionId !== undefined && stalled.has(sessionId) });
}

/** Never rejects: a failing agent is part of the comparison. */
async function takeTurn(agents: AgentSessions, agent: string, cwd: string, prompt: string, context: TurnContext): Promise<TurnTaken> {
  const late = context.timeoutS === undefined ? undefined : AbortSignal.timeout(context.timeoutS * 1000);
  const signal = late ? AbortSignal.any([context.over, late]) : context.over;
  let text = '';
  try {
    const { sessionId } = await unlessAborted(signal, agents.open(cwd, agent));
    context.opened(sessionId);
    const began = performance.now();
    let firstWordsMs: number | undefined;
    const turn = await agents.prompt(sessionId, prompt, {
      signal,
      progress({ text: words, kind }) {
        if (kind === 'thought' || kind === 'plan') return;
        firstWordsMs ??= Math.round(performance.now() - began);
        text += words;
      },
      permission: async (request, _, params, id) => context.permission(request, params, id),
    });
    const durationMs = Math.round(performance.now() - began);
    const isLate = late?.aborted === true && !context.over.aborted;
    return {
      agent,
      sessionId,
      result: isLate ? 'timeout' : turn.stopReason,
      text: turn.text,
      durationMs,
      ...(firstWordsMs !== undefined && { firstWordsMs }),
      usage: turn.usage,
      toolCalls: turn.toolCalls.length,
      exitCode: isLate ? EXIT.timeout : EXIT.ok,
    };
  } catch (error) {
    const failed = describeFailure(error, agent, (words) => words); // the caller redacts all output
    const { message, hint, exitCode } =
      failed instanceof CommandFailure ? failed : { message: (error as Error).message, hint: undefined, exitCode: EXIT.failed };
    const result = context.over.aborted ? 'cancelled' : late?.aborted ? 'timeout' : 'failed';
    const code = result === 'timeout' ? EXIT.timeout : exitCode;
    return { agent, result, text, error: { message, hint }, usage: {}, toolCalls: 0, exitCode: code };
  }
}

/** An agent that never opens a session must not hold back the others' results. */
function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(new Error('the agent did not open a session in time'));
    if (signal.aborted) aborted();
    signal.addEventListener('abort', aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}

/** Keeps directories with changes, unless --discard is set; removes the others. */
async function settle(directories: WorkDirectories | undefined, { discard }: CompareFlags): Promise<ReadonlyMap<string, Place>> {
  const places = new Map<string, Place>();
  for (const [name, directory] of directories?.byAgent ?? []) places.set(name, await placeOf(directory, discard === true));
  await directories?.remove([...places].flatMap(([name, { kept }]) => (kept ? [] : [name])));
  return places;
}

async function placeOf(directory: WorkDirectory, isDiscarded: boolean): Promise<Place> {
  const { kind, root, look, discard } = directory;
  const changed = await directory.changes();
  return { kind, path: root, changed, kept: !isDiscarded && changed?.length !== 0, look, discard };
}
