// The entries of a conversation.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Item } from '../../../src/console/protocol/conversation.ts';
import type { Shown } from '../../state.ts';
import { Logins } from '../agents/logins.tsx';
import { Icon } from '../controls/icon.tsx';
import { Compaction, Note, Plan, Subagent, Unknown } from './asides.tsx';
import { BlockView } from './content.tsx';
import { Markdown } from './markdown.tsx';
import { Tool } from './tool.tsx';

type Of<Kind extends Item['kind']> = Extract<Item, { kind: Kind }>;

export function Items({ shown, cwd }: { readonly shown: Shown; readonly cwd: string }): VNode {
  void shown.list.value; // render when the list grows
  const { items, dropped } = shown.conversation;
  return (
    <>
      {dropped > 0 && <p class="quiet-text centred">{dropped} earlier entries are only in the transcript.</p>}
      {items.map((item) => (
        <One key={item.id} item={item} shown={shown} cwd={cwd} />
      ))}
    </>
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
      return <End item={item} />;
  }
}

function Message({ item: { role, text, blocks }, sessionId }: { readonly item: Of<'message'>; readonly sessionId: string }): VNode {
  if (role === 'thought')
    return (
      <details class="thought">
        <summary>
          <Icon name="thought" /> {firstLine(text)}
        </summary>
        <Markdown text={text} />
      </details>
    );
  const draw = (text: string) => (role === 'user' ? <div class="plain">{text}</div> : <Markdown text={text} />);
  return (
    <article class={`message ${role}`} aria-label={role === 'user' ? 'You' : 'Agent'}>
      {text !== '' && <Long text={text} draw={draw} />}
      {blocks.map((block) => (
        <BlockView block={block} sessionId={role === 'user' ? undefined : sessionId} />
      ))}
    </article>
  );
}

const LONGEST = 100_000;
const EDGE = 20_000;

/**
 * The browser lays out a text of megabytes again with everything after it, which takes seconds. Show its beginning and end until the user
 * wants it all.
 */
function Long({ text, draw }: { readonly text: string; readonly draw: (text: string) => VNode }): VNode {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || text.length <= LONGEST) return draw(text);
  return (
    <>
      {draw(text.slice(0, EDGE))}
      <p class="quiet-text centred">
        {(text.length - 2 * EDGE).toLocaleString()} characters omitted.{' '}
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          Show all
        </button>
      </p>
      {draw(text.slice(-EDGE))}
    </>
  );
}

const firstLine = (text: string): string => {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
};

const REASONS: Readonly<Record<string, string>> = {
  end_turn: '',
  cancelled: 'Cancelled',
  refusal: 'The agent refused to continue. The last prompt and everything after it are not part of the conversation. Rephrase it.',
  max_tokens: 'Stopped: token limit reached. Ask the agent to continue, or for something smaller.',
  max_turn_requests: 'Stopped: the turn’s request limit was reached. Ask the agent to continue.',
};

function End({ item: { stopReason, error, hint, logins } }: { readonly item: Of<'end'> }): VNode {
  if (error !== undefined)
    return (
      <div class="failure" role="alert">
        <Icon name="warning" />
        <div>
          <pre>{error}</pre>
          {hint !== undefined && <p>{hint}</p>}
          {logins && <Logins methods={logins} done="You are logged in. Send the prompt again." />}
        </div>
      </div>
    );
  const text = REASONS[stopReason ?? ''] ?? `Stopped: ${stopReason ?? 'no reason given'}`;
  return <div class={text === '' ? 'end' : 'end told'}>{text}</div>;
}
