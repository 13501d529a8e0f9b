// Checks what the client is shown of tool calls and elicitations.
import type { AgentFrame } from './ledger.ts';
import { type Evidence, nameOf, runOf } from './observations.ts';
import type { Message } from './sim.ts';

/** Each process has its own names at the client, until its elicitations are completed. */
export function elicited(seen: Evidence, frame: AgentFrame, name: string, publicName: string): void {
  const run = runOf(seen, frame);
  const held = seen.elicitations.get(publicName);
  const isOwn = held?.run === run && held.name === name;
  if (held && !isOwn && held.open > 0 && !held.run.sim.isOver)
    seen.problem(`${nameOf(frame)} is asked as ${publicName}, which is ${held.name} of ${held.run.agent}#${held.run.number}`);
  seen.elicitations.set(publicName, { run, name, open: (isOwn ? held.open : 0) + 1 });
}

/** An agent never completes another agent's elicitation. */
export function completed(seen: Evidence, frame: AgentFrame, publicName: string): void {
  const held = seen.elicitations.get(publicName);
  if (held?.run === runOf(seen, frame) && held.name === frame.about.elicitationId && held.open > 0) held.open--;
  else
    seen.problem(
      `${nameOf(frame)} completes ${publicName}, which is ${held ? `${held.name} of ${held.run.agent}#${held.run.number}` : 'unknown'}`,
    );
}

export function shownCall(seen: Evidence, params: NonNullable<Message['params']>): void {
  const { sessionUpdate, toolCallId = '', status } = params.update as { sessionUpdate?: string; toolCallId?: string; status?: string };
  if (status === 'completed' || status === 'failed') seen.shownCalls.delete(toolCallId);
  else if (sessionUpdate === 'tool_call') seen.shownCalls.set(toolCallId, String(params.sessionId));
}

export function toolCall(seen: Evidence, params: NonNullable<Message['params']>, frame: AgentFrame | undefined): void {
  const update = params.update as { toolCallId?: string; status?: string } | undefined;
  if (update?.toolCallId === undefined) return;
  const publicId = String(params.sessionId);
  const key = `${publicId}\n${update.toolCallId}`;
  if (update.status === 'completed' || update.status === 'failed') seen.toolCalls.delete(key);
  else if (frame && seen.bound.get(publicId)?.isLive)
    seen.toolCalls.set(key, { run: runOf(seen, frame), publicId, toolCallId: update.toolCallId });
}
