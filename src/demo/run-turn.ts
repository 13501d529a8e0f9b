// Runs one prompt turn to its stop reason.
import { type ContentBlock, methods, type PromptResponse, RequestError, type StopReason } from '@agentclientprotocol/sdk';
import type { AgentProfile } from './agents.ts';
import { pickScenario } from './scenarios/commands.ts';
import { ScenarioFailure } from './scenarios/scenario.ts';
import type { SessionRecord } from './session-store.ts';
import { createTurn, type Turn, type TurnSetting } from './turn.ts';

// A prompt's content blocks as scenarios need them: the text and the attachments.
export type ReadPrompt = { readonly text: string; readonly attachments: readonly string[] };

/** Refuses content the agent never advertised, so that a proxy that forwards it notices. */
export function readPrompt(profile: AgentProfile, blocks: readonly ContentBlock[]): ReadPrompt {
  const { image, audio, embeddedContext } = profile.agentCapabilities.promptCapabilities ?? {};
  const takes = { text: true, resource_link: true, image, audio, resource: embeddedContext };
  const refused = blocks.find((block) => takes[block.type] !== true);
  if (refused !== undefined)
    throw RequestError.invalidParams({ type: refused.type }, `${profile.title} takes no ${refused.type} in a prompt`);
  return {
    text: blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'),
    attachments: blocks.flatMap(nameOf),
  };
}

function nameOf(block: ContentBlock): string[] {
  if (block.type === 'resource_link') return [block.name];
  if (block.type === 'resource') return [block.resource.uri];
  return block.type === 'image' ? [`an image (${block.mimeType})`] : [];
}

const TITLE_CHARACTERS = 48;
const CHARACTERS_PER_TOKEN = 4;

type PromptTurn = Omit<TurnSetting, 'signal' | 'abort'> & {
  readonly prompt: readonly ContentBlock[];
  /** Aborts when the client cancels the request by `$/cancel_request`. */
  readonly requestSignal: AbortSignal;
  save(record: SessionRecord): void;
};

export function runTurn(setting: PromptTurn): Promise<PromptResponse> {
  const { session, profile, prompt } = setting;
  if (session.turn !== undefined) throw RequestError.invalidRequest({ sessionId: session.record.sessionId }, 'a turn is already running');
  const { text, attachments } = readPrompt(profile, prompt);
  const cancel = new AbortController();
  const signal = AbortSignal.any([cancel.signal, setting.requestSignal]);
  const turn = createTurn({ ...setting, signal, abort: () => cancel.abort() });

  const done = play(turn, text, attachments, prompt).finally(() => {
    session.turn = undefined;
    setting.save(session.record);
  });
  session.turn = { cancel, done };
  return done.then((stopReason) => {
    // session/cancel ends in a stop reason, `$/cancel_request` in an error.
    if (stopReason === 'cancelled' && !cancel.signal.aborted) throw RequestError.requestCancelled();
    return { stopReason };
  });
}

async function play(turn: Turn, text: string, attachments: readonly string[], prompt: readonly ContentBlock[]): Promise<StopReason> {
  const { record } = turn.session;
  record.turns += 1;
  record.updatedAt = new Date().toISOString();
  // Not by addToTranscript: a prompt's blocks must come back unchanged.
  record.transcript.push(...prompt.map((content) => ({ sessionUpdate: 'user_message_chunk' as const, content })));

  const { scenario, rest } = pickScenario(text);
  const stopReason = await stopReasonOf(turn, () => scenario(turn, { rest, attachments }));
  await reportProgress(turn, text);
  return stopReason;
}

async function stopReasonOf(turn: Turn, act: () => Promise<void>): Promise<StopReason> {
  try {
    await act();
    return 'end_turn';
  } catch (error) {
    await turn.failOpenToolCalls();
    if (turn.signal.aborted) return 'cancelled';
    // A RequestError here means that the client refused a request: report it and end the turn normally.
    if (!(error instanceof ScenarioFailure || error instanceof RequestError)) throw error;
    const regret = error instanceof ScenarioFailure ? error.message : `Your editor declined: ${error.message}`;
    return await stopReasonOf(turn, () => turn.send(regret));
  }
}

async function reportProgress({ client, profile, session: { record } }: Turn, text: string): Promise<void> {
  const { sessionId, updatedAt } = record;
  if (record.title === null) {
    record.title = text.replace(/\s+/g, ' ').trim().slice(0, TITLE_CHARACTERS) || 'Untitled';
    const { title } = record;
    await client.notify(methods.client.session.update, { sessionId, update: { sessionUpdate: 'session_info_update', title, updatedAt } });
  }
  const used = Math.ceil(JSON.stringify(record.transcript).length / CHARACTERS_PER_TOKEN);
  await client.notify(methods.client.session.update, {
    sessionId,
    update: { sessionUpdate: 'usage_update', used: Math.min(used, profile.contextTokens), size: profile.contextTokens },
  });
}
