// The entries of a conversation.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Item } from '../../../src/console/protocol/conversation.ts';
import { ask } from '../../socket.ts';
import { type Shown, sessions } from '../../state.ts';
import { Logins } from '../agents/logins.tsx';
import { lastSent, setDraft } from '../composer/drafts.ts';
import { lasting } from '../controls/format.ts';
import { Icon } from '../controls/icon.tsx';
import { Problem } from '../controls/problem.tsx';
import { Compaction, Note, Plan, Subagent, Unknown } from './asides.tsx';
import { Raw } from './content.tsx';
import { Message } from './message.tsx';
import { entriesIn, type Part } from './part.ts';
import { Tool } from './tool.tsx';

type Of<Kind extends Item['kind']> = Extract<Item, { kind: Kind }>;

type Props = {
  readonly shown: Shown;
  readonly cwd: string;
  readonly part: Part;
  readonly showEarlier: () => void;
};

export function Items({ shown, cwd, part, showEarlier }: Props): VNode {
  const { items, dropped } = shown.conversation;
  const drawn = entriesIn(shown.conversation, part);
  const earlier = items.indexOf(drawn[0] as Item);
  return (
    <>
      {earlier > 0 ? (
        <p class="centred">
          <button type="button" class="quiet" onClick={showEarlier}>
            Show earlier entries ({earlier})
          </button>
        </p>
      ) : (
        dropped > 0 && <p class="quiet-text centred">{dropped} earlier entries are only in the transcript.</p>
      )}
      {items.length === 0 && <Nothing shown={shown} cwd={cwd} />}
      {drawn.map((item) => (
        <div class="item" key={item.id} data-item={item.id}>
          <One item={item} shown={shown} cwd={cwd} />
        </div>
      ))}
    </>
  );
}

/** What a user can do in a new session. */
function Nothing({ shown, cwd }: { readonly shown: Shown; readonly cwd: string }): VNode | null {
  void shown.around.value;
  const { isRunning, commands } = shown.conversation;
  const row = sessions.value.get(shown.conversation.sessionId);
  if (isRunning || row === undefined || row.state === 'stored') return null;
  return (
    <div class="empty">
      <p>
        A new session with {row.agent} in <code>{cwd}</code>
      </p>
      <p>
        {commands.length > 0 && `Type / for its ${commands.length === 1 ? 'command' : `${commands.length} commands`}. `}Drop files anywhere
        to attach them.
      </p>
    </div>
  );
}

/** Renders only when this item changes. */
function One({ item, shown, cwd }: { readonly item: Item; readonly shown: Shown; readonly cwd: string }): VNode | null {
  const version = shown.item(item.id).value;
  switch (item.kind) {
    case 'message':
      return <Message item={item} sessionId={shown.conversation.sessionId} />;
    case 'tool':
      return <Tool item={item} version={version} shown={shown} cwd={cwd} />;
    case 'plan':
      return <Plan item={item} />;
    case 'compaction':
      return <Compaction item={item} />;
    case 'subagent':
      return <Subagent item={item} />;
    case 'unknown':
      return <Unknown item={item} />;
    case 'decision':
      return (
        <p class="decision">
          <Icon name={item.isAccepted === undefined ? 'inbox' : item.isAccepted ? 'check' : 'cross'} /> <b>{item.outcome}</b> — {item.title}
        </p>
      );
    case 'note':
      return <Note item={item} />;
    case 'end':
      return <End item={item} shown={shown} />;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  end_turn: '',
  cancelled: 'Cancelled',
  refusal: 'The agent refused to continue. The last prompt and everything after it are not part of the conversation. Rephrase it.',
  max_tokens: 'Stopped: token limit reached. Ask the agent to continue, or for something smaller.',
  max_turn_requests: 'Stopped: the turn’s request limit was reached. Ask the agent to continue.',
};

/** Error data up to this length is shown at once: it often has the reason. */
const SHORT_DATA = 400;
/** Turns shorter than this do not say how long they took. */
const LONG_TURN_MS = 2000;

function End({ item, shown }: { readonly item: Of<'end'>; readonly shown: Shown }): VNode {
  const { stopReason, error, data, hint, logins } = item;
  if (error !== undefined)
    return (
      <div class="failure" role="alert">
        <Icon name="warning" />
        <div>
          <pre>{error}</pre>
          {hint !== undefined && <p>{hint}</p>}
          {data !== undefined && <Raw name="Error data" text={data} isOpen={data.length <= SHORT_DATA} />}
          {logins && <Logins methods={logins} done="You are logged in. Send the prompt again." />}
          <Retry item={item} shown={shown} />
        </div>
      </div>
    );
  const reason = REASONS[stopReason ?? ''] ?? `Stopped: ${stopReason ?? 'no reason given'}`;
  const took = durationOf(item, shown);
  const text = [reason, took].filter((part) => part !== '').join(' · ');
  return <div class={text === '' ? 'end' : 'end told'}>{text}</div>;
}

/** How long the turn took, if that is worth saying. */
function durationOf({ id, at }: Of<'end'>, { conversation: { items } }: Shown): string {
  const prompt = items.findLast((one) => one.id < id && one.kind === 'message' && one.role === 'user') as Of<'message'> | undefined;
  if (at === undefined || prompt?.at === undefined || at - prompt.at < LONG_TURN_MS) return '';
  return lasting(at - prompt.at);
}

/** Sends the failed prompt again. A page that did not send it has only its shown text, which the user checks before sending it. */
function Retry({ item, shown }: { readonly item: Of<'end'>; readonly shown: Shown }): VNode | null {
  const [problem, setProblem] = useState('');
  void shown.list.value;
  const { sessionId, items, isRunning } = shown.conversation;
  const prompt = items.findLast((one) => one.id < item.id && one.kind === 'message' && one.role === 'user') as Of<'message'> | undefined;
  const isLast = !items.some((one) => one.id > item.id && (one.kind === 'end' || one.kind === 'message'));
  const row = sessions.value.get(sessionId);
  if (!isLast || isRunning || !prompt || row?.isFromClient) return null;
  const blocks = lastSent(sessionId);
  return (
    <>
      <div class="buttons">
        {blocks ? (
          <button type="button" onClick={() => ask('prompt', { sessionId, blocks }).catch((failed: Error) => setProblem(failed.message))}>
            <Icon name="restart" /> Try again
          </button>
        ) : (
          <button type="button" onClick={() => setDraft(sessionId, { text: prompt.text })}>
            <Icon name="edit" /> Edit and send again
          </button>
        )}
      </div>
      <Problem text={problem} />
    </>
  );
}
