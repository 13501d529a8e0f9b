// The prompts that pages send. One that is sent during a turn waits in the proxy, and is shown in the conversation once it begins.
import { META_KEY } from '../../acp/shapes.ts';
import { ClientError } from '../../client/client-error.ts';
import { neutralise } from '../../control-characters.ts';
import { fields } from '../../json-object.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { Block } from '../protocol/conversation.ts';
import type { PromptBlock } from '../protocol/sessions.ts';
import { adviceOn } from '../state/advice.ts';
import { cleanValue } from '../state/clean-text.ts';
import { list, shown } from '../state/read-update.ts';
import type { StateKeeper } from '../state/state.ts';

export type Prompts = ReturnType<typeof createPrompts>;

/** The prompts that wait in the proxy. */
export type PromptQueue = {
  queuedPrompts(): readonly { readonly sessionId: string; readonly id: string; readonly text: string }[];
  /** How many prompts of the session the agent has. */
  runningPrompts(sessionId: string): number;
  /** Undefined removes it. False when it no longer waits. */
  changeQueued(prompt: QueuedPromptId, text: string | undefined): boolean;
  /** Undefined if no other client can prompt. Else `begun` tells when a prompt of the console begins. */
  readonly others?: {
    /** Whether prompts of others run or wait in the session. */
    isPrompting(sessionId: string): boolean;
    isMine(prompt: QueuedPromptId): boolean;
  };
};

type QueuedPromptId = { readonly sessionId: string; readonly id: string };

type Deps = {
  readonly state: StateKeeper;
  readonly redact: Redactor;
  readonly queue: PromptQueue;
  /** Resolves with the agent's answer. */
  readonly send: (sessionId: string, blocks: readonly PromptBlock[], whileRunning: DuringTurn) => Promise<unknown>;
};

type DuringTurn = 'queue' | 'steer' | undefined;
type Prompt = { text: string; readonly blocks: readonly Block[]; hasBegun: boolean; isAnnounced: boolean };

/** The proxy has received a prompt by then: it waits there, or the agent has it, since some agents take prompts during a turn. */
const RECEIVED_MS = 300;
const CANCELLED = -32800;

export function createPrompts({ state, redact, queue, send }: Deps) {
  const open = new Map<string, readonly Prompt[]>();
  const of = (sessionId: string): readonly Prompt[] => open.get(sessionId) ?? [];
  const waiting = (sessionId: string): readonly Prompt[] => of(sessionId).filter(({ hasBegun }) => !hasBegun);
  const queued = (sessionId: string) => queue.queuedPrompts().filter((one) => one.sessionId === sessionId);

  const mine = (sessionId: string) => queued(sessionId).filter((one) => queue.others?.isMine(one) !== false);

  /** Those that no longer wait in the proxy: a prompt that joins the turn overtakes those that wait. */
  function taken(sessionId: string, prompts: readonly Prompt[]): readonly Prompt[] {
    const texts = mine(sessionId).map(({ text }) => text);
    return prompts.filter(({ text }) => {
      const at = texts.indexOf(text);
      if (at !== -1) texts.splice(at, 1);
      return at === -1;
    });
  }
  function begin(sessionId: string, prompt: Prompt): void {
    prompt.hasBegun = true;
    state.event(sessionId, { e: 'prompt', text: neutralise(redact(prompt.text)), blocks: prompt.blocks });
  }
  function received(sessionId: string): void {
    // A prompt that is neither waiting nor running has been answered, and its answer is on the way: it does not begin here.
    const shown = of(sessionId).length - waiting(sessionId).length;
    const begun = Math.max(0, queue.runningPrompts(sessionId) - shown);
    for (const prompt of taken(sessionId, waiting(sessionId)).slice(0, begun)) begin(sessionId, prompt);
  }
  function remove(sessionId: string, prompt: Prompt): void {
    const left = of(sessionId).filter((one) => one !== prompt);
    if (left.length > 0) open.set(sessionId, left);
    else open.delete(sessionId);
  }
  /** The end of the turn that a prompt has joined is shown once, by the turn itself. */
  function leftTurn(sessionId: string): void {
    if (of(sessionId).some(({ hasBegun }) => hasBegun) || queue.others?.isPrompting(sessionId)) return;
    state.event(sessionId, { e: 'running', isRunning: false });
  }
  function ended(sessionId: string, prompt: Prompt, answer: unknown): void {
    const isError = answer instanceof Error;
    remove(sessionId, prompt);
    if (!prompt.hasBegun) {
      if (isError ? answer instanceof ClientError && answer.code === CANCELLED : fields(answer).stopReason === 'cancelled') return;
      if (isError) return state.event(sessionId, { e: 'note', severity: 'error', text: `Not sent: ${neutralise(redact(answer.message))}` });
      begin(sessionId, prompt);
    }
    if (!isError && fields(fields(fields(answer)._meta)[META_KEY]).joinedTurn === true) return leftTurn(sessionId);
    if (isError)
      state.event(sessionId, {
        ...{ e: 'end', error: neutralise(redact(errorText(answer))), data: dataText(answer, redact) },
        ...adviceOn(answer, state.agents(), true),
      });
    else state.event(sessionId, { e: 'end', stopReason: String(fields(answer).stopReason) });
    const [next] = of(sessionId);
    if (next?.hasBegun) state.event(sessionId, { e: 'running', isRunning: true });
    else if (next && !queue.others) begin(sessionId, next);
  }

  return {
    prompt(sessionId: string, blocks: readonly PromptBlock[], whileRunning?: DuringTurn): void {
      const prompt: Prompt = {
        text: blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'),
        blocks: blocks.flatMap((block) => (block.type === 'text' ? [] : [shownBlock(block)])),
        hasBegun: false,
        isAnnounced: false,
      };
      open.set(sessionId, [...of(sessionId), prompt]);
      if (of(sessionId).length === 1 && !queue.others?.isPrompting(sessionId)) begin(sessionId, prompt);
      else if (!queue.others) setTimeout(() => received(sessionId), RECEIVED_MS).unref();
      send(sessionId, blocks, whileRunning).then(
        (answer) => ended(sessionId, prompt, answer),
        (error: Error) => ended(sessionId, prompt, error),
      );
    },
    queued,
    /** The agent has the next prompt of the console. */
    begun(sessionId: string): void {
      const open = of(sessionId).filter(({ isAnnounced }) => !isAnnounced);
      const prompt = taken(sessionId, open)[0] ?? open[0];
      if (!prompt) return;
      prompt.isAnnounced = true;
      if (!prompt.hasBegun) begin(sessionId, prompt);
    },
    /** False when the prompt no longer waits. */
    change(sessionId: string, id: string, text: string | undefined): boolean {
      const at = mine(sessionId).findIndex((one) => one.id === id);
      const changed = waiting(sessionId)[at];
      if (!queue.changeQueued({ sessionId, id }, text)) return false;
      if (changed && text !== undefined) changed.text = text;
      return true;
    },
  };
}

function shownBlock(block: Exclude<PromptBlock, { type: 'text' }>): Block {
  if (block.type !== 'resource') return block;
  const { uri, mimeType } = block.resource;
  return { type: 'resource', uri, mimeType, text: 'text' in block.resource ? block.resource.text : undefined };
}

/** The error's code and data, without the stderr lines, which are part of the error's text. */
function dataText(error: Error, redact: Redactor): string | undefined {
  if (!(error instanceof ClientError)) return undefined;
  const { data } = error;
  const { stderr: _, ...rest } = fields(data);
  const isEmpty =
    data === undefined || data === null || (typeof data === 'object' && !Array.isArray(data) && Object.keys(rest).length === 0);
  if (isEmpty) return undefined;
  return shown(cleanValue({ code: error.code, data: typeof data === 'object' && !Array.isArray(data) ? rest : data }, redact));
}

function errorText(error: Error): string {
  const { stderr } = fields(error instanceof ClientError ? error.data : undefined);
  return [error.message, ...list(stderr).map((line) => `  ${String(line)}`)].join('\n');
}
