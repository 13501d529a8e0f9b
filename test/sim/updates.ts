// The updates of a session, of every kind that the proxy treats specially and some unknown ones.
import { optionsOf } from './agent-model.ts';
import type { AgentSession } from './ledger.ts';
import type { Sim } from './sim.ts';
import type { AgentInput, Run } from './sim-agent.ts';

const KINDS = [
  [8, 'agent_message_chunk'],
  [2, 'tool_call'],
  [2, 'tool_call_update'],
  [1, 'plan'],
  [1, 'current_mode_update'],
  [1, 'config_option_update'],
  [1, 'available_commands_update'],
  [1, '_sim_kind'],
] as const;

/** A load whose history the update is part of, and whether the client has asked to see it. */
type Replay = { readonly of: AgentInput; readonly isWanted: boolean };

/** The last word of a cancelled turn. */
type LastWord = { readonly ofTurn: AgentInput };

/** Returns true, for jobs that consist of nothing else. */
export function sendUpdate(sim: Sim, run: Run, session: AgentSession, kind?: string, bytes = 10, cause?: Replay | LastWord): true {
  const replay = cause && 'of' in cause ? cause : undefined;
  const { random } = sim;
  if (kind === undefined && random.chance(0.05)) {
    const fate = session.isDelegation ? 'may' : 'must';
    run.sender.send({ kind: 'notification', as: 'params', method: '_sim/note', session, body: { word: 'x' }, isOrdered: true, fate });
    return true;
  }
  // As models write: many short pieces in a row.
  if (kind === undefined && replay === undefined && random.chance(0.1))
    for (let left = random.int(2, 8); left > 0; left--) sendUpdate(sim, run, session, 'agent_message_chunk', bytes);
  const sessionUpdate = kind ?? random.weighted(KINDS);
  const content = contentOf(sim, run, session, sessionUpdate, bytes);
  const unwanted = replay?.isWanted === false ? replay.of : undefined;
  const isPatched = sessionUpdate === 'config_option_update' || sessionUpdate === 'available_commands_update';
  run.sender.send({
    kind: 'update',
    as: 'params',
    method: 'session/update',
    session,
    isOrdered: true,
    isTextMark: sessionUpdate === 'agent_message_chunk',
    fate: unwanted ? 'never' : session.isDelegation ? 'may' : 'must',
    body: { update: { sessionUpdate, ...content } },
    about: {
      isPatched,
      modeId: content.currentModeId,
      isReplay: unwanted !== undefined,
      loadedIn: unwanted?.writtenIn,
      replayFor: replay?.of.client,
      lastWordFor: cause && 'ofTurn' in cause ? cause.ofTurn.client : undefined,
    },
  });
  return true;
}

function contentOf(sim: Sim, run: Run, session: AgentSession, kind: string, bytes: number): Record<string, unknown> {
  const { random } = sim;
  switch (kind) {
    case 'tool_call':
      return { toolCallId: `call${random.int(1, 4)}`, title: 'Work', status: random.pick(['pending', 'in_progress']) };
    case 'tool_call_update':
      return { toolCallId: `call${random.int(1, 4)}`, status: random.pick(['in_progress', 'completed', 'failed']) };
    case 'plan':
      return { entries: [] };
    case 'current_mode_update':
      session.mode = random.pick(['ask', 'code']);
      return { currentModeId: session.mode };
    case 'config_option_update':
      return { configOptions: optionsOf(run.model.traits) };
    case 'available_commands_update':
      return { availableCommands: random.chance(0.2) ? [{ name: 'agent', description: 'its own' }] : [{ name: 'go', description: 'go' }] };
    default:
      return { content: { type: 'text', text: (bytes % 2 === 0 ? 'w' : random.pick(['é', '\\"'])).repeat(bytes) } };
  }
}
