// One prompt turn from the question to its stop reason.
import { type ContentBlock, methods, type PromptResponse, RequestError, type StopReason } from '@agentclientprotocol/sdk';
import type { AgentProfile } from './agents.ts';
import { pickScenario } from './scenarios/commands.ts';
import { ScenarioFailure } from './scenarios/scenario.ts';
import type { SessionRecord } from './session-store.ts';
import { createTurn, type Turn, type TurnSetting } from './turn.ts';

// A prompt's content blocks, read the way the scenes want them: words to act on, and what came along.
export type ReadPrompt = { readonly text: string; readonly attachments: readonly string[] };

/** Refuses what the persona never advertised: a proxy that lets it through should hear of it. */
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

type Asked = Omit<TurnSetting, 'signal' | 'abort'> & {
  readonly prompt: readonly ContentBlock[];
  /** Aborts when the client withdraws the request itself by `$/cancel_request`. */
  readonly requestSignal: AbortSignal;
  save(record: SessionRecord): void;
};

export function runTurn(asked: Asked): Promise<PromptResponse> {
  const { session, profile, prompt } = asked;
  if (session.turn !== undefined) throw RequestError.invalidRequest({ sessionId: session.record.sessionId }, 'a turn is already running');
  const { text, attachments } = readPrompt(profile, prompt);
  const cancel = new AbortController();
  const signal = AbortSignal.any([cancel.signal, asked.requestSignal]);
  const turn = createTurn({ ...asked, signal, abort: () => cancel.abort() });

  const done = play(turn, text, attachments, prompt).finally(() => {
    session.turn = undefined;
    asked.save(session.record);
  });
  session.turn = { cancel, done };
  return done.then((stopReason) => {
    // session/cancel ends in a stop reason, `$/cancel_request` in an error: the two say different things.
    if (stopReason === 'cancelled' && !cancel.signal.aborted) throw RequestError.requestCancelled();
    return { stopReason };
  });
}

async function play(turn: Turn, text: string, attachments: readonly string[], prompt: readonly ContentBlock[]): Promise<StopReason> {
  const { record } = turn.session;
  record.turns += 1;
  record.updatedAt = new Date().toISOString();
  // Not by addToTranscript: the blocks of a prompt come back as the blocks they were.
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
    // A RequestError here is the client's refusal of something we asked for: worth a sentence, not a failed turn.
    if (!(error instanceof ScenarioFailure || error instanceof RequestError)) throw error;
    const regret = error instanceof ScenarioFailure ? error.message : `Your editor declined: ${error.message}`;
    return await stopReasonOf(turn, () => turn.say(regret));
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
