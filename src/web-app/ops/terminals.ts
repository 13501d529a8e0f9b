// Terminals of a page: `terminal.create`, `terminal.output`, `terminal.kill`, `terminal.release`, `terminal.waitForExit`. Off unless allowed.
// They run in the directories of a session, under its policy.
import * as z from 'zod';
import { fields } from '../../json-object.ts';
import type { Principal } from '../principal.ts';
import { refusals } from '../refusal.ts';
import { type Op, type OpContext, op, opWithAfter } from './op.ts';

const variables = z.union([
  z.array(z.object({ name: z.string(), value: z.string() })),
  z.record(z.string(), z.string()).transform((table) => Object.entries(table).map(([name, value]) => ({ name, value }))),
]);
const create = z.object({
  sessionId: z.string().min(1).nullish(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: variables.default([]),
  cwd: z.string().min(1).optional(),
  outputByteLimit: z.int().min(0).optional(),
});
const named = z.object({ terminalId: z.string().min(1) });

/** The session of a terminal that a page created. */
function sessionOf({ deps, terminals, terminalSessions }: Principal, terminalId: string): string {
  if (terminals.ownerOf(terminalId) === 'agent') throw refusals.terminalOfAgent();
  if (!deps.allowsTerminals) throw refusals.terminalsOff();
  const sessionId = terminalSessions.get(terminalId);
  if (sessionId === undefined) throw refusals.terminalUnknown(terminalId);
  return sessionId;
}

async function ask({ principal }: OpContext, method: string, terminalId: string): Promise<Readonly<Record<string, unknown>>> {
  const sessionId = sessionOf(principal, terminalId);
  return fields(await principal.host.serve(sessionId, method, { sessionId, terminalId }));
}

export const terminalOps: Readonly<Record<string, Op>> = {
  'terminal.create': opWithAfter(create, async ({ principal }, { sessionId: given, ...params }) => {
    const { deps, sessions, host, terminals, terminalSessions } = principal;
    if (!deps.allowsTerminals) throw refusals.terminalsOff();
    const { sessionId, link } = await sessions.use(given ?? undefined);
    const verdict = link.proxy.runByUser(sessionId, params);
    if (!verdict.allow) throw refusals.denied(verdict.reason);
    const terminalId = String(fields(await host.serve(sessionId, 'terminal/create', { sessionId, ...params })).terminalId);
    terminalSessions.set(terminalId, sessionId);
    return { result: { terminalId }, after: () => terminals.announce(terminalId) };
  }),
  'terminal.output': op(named, async (context, { terminalId }) => {
    const { terminals } = context.principal;
    if (terminals.ownerOf(terminalId) === 'agent') return terminals.stateOf(terminalId);
    const { output, ...rest } = await ask(context, 'terminal/output', terminalId);
    return { output: context.principal.deps.secrets.redactCut(String(output)), ...rest };
  }),
  'terminal.kill': op(named, (context, { terminalId }) => ask(context, 'terminal/kill', terminalId)),
  'terminal.release': op(named, async (context, { terminalId }) => {
    await ask(context, 'terminal/release', terminalId);
    context.principal.terminals.forget(terminalId);
    context.principal.terminalSessions.delete(terminalId);
  }),
  'terminal.waitForExit': op(named, async (context, { terminalId }) => {
    const exitStatus = await ask(context, 'terminal/wait_for_exit', terminalId);
    return { exitStatus, ...exitStatus };
  }),
};
