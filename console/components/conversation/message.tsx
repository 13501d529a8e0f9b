// A message of the user or the agent, with its time and a button to copy it.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Item } from '../../../src/console/protocol/conversation.ts';
import { Copy } from '../controls/copy.tsx';
import { Icon } from '../controls/icon.tsx';
import { AboutView, BlockView } from './content.tsx';
import { Markdown } from './markdown.tsx';

type MessageItem = Extract<Item, { kind: 'message' }>;

export function Message({ item, sessionId }: { readonly item: MessageItem; readonly sessionId: string }): VNode {
  const { role, text, blocks, about, at } = item;
  if (role === 'thought')
    return (
      <details class="thought">
        <summary>
          <Icon name="thought" /> <span class="first-line">{firstLine(text)}</span>
          <span class="opened">Thoughts</span>
        </summary>
        <Markdown text={text} />
      </details>
    );
  const isUser = role === 'user';
  const draw = (part: string) => (isUser ? <div class="plain">{part}</div> : <Markdown text={part} />);
  return (
    <div class={`said ${role}`}>
      <article class={`message ${role}`} aria-label={isUser ? 'You' : 'Agent'}>
        {text !== '' && <Long text={text} draw={draw} />}
        {blocks.map((block) => (
          <BlockView block={block} sessionId={isUser ? undefined : sessionId} />
        ))}
      </article>
      <div class="meta">
        {at !== undefined && <Time at={at} />}
        <AboutView about={about} />
        {text !== '' && <Copy label="Copy the message" text={() => item.text} />}
      </div>
    </div>
  );
}

function Time({ at }: { readonly at: number }): VNode {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const short: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', ...(!isToday && { month: 'short', day: 'numeric' }) };
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {date.toLocaleString([], short)}
    </time>
  );
}

const LONGEST = 60_000;
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
