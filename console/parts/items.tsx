// One thing after the other, as it was said and done in a session.
import type { VNode } from 'preact';
import type { Block, Item, ToolContent } from '../../src/console/conversation.ts';
import { questions, type Shown } from '../state.ts';
import { Icon } from './icon.tsx';
import { later } from './later.tsx';
import { Link } from './link.tsx';
import { Markdown } from './markdown.tsx';
import { Printed } from './output.tsx';
import { shortened } from './words.ts';

const Diff = later(() => import('./diff.tsx').then((loaded) => loaded.Diff));

type Of<Kind extends Item['kind']> = Extract<Item, { kind: Kind }>;

export function Items({ shown, cwd }: { readonly shown: Shown; readonly cwd: string }): VNode {
  void shown.list.value; // drawn again when there are more
  const { items, dropped } = shown.conversation;
  return (
    <>
      {dropped > 0 && <p class="quiet-text centred">{dropped} earlier entries are not shown here; the transcript has them.</p>}
      {items.map((item) => (
        <One key={item.id} item={item} shown={shown} cwd={cwd} />
      ))}
    </>
  );
}

/** Draws itself again when it changes, and nothing else does. */
function One({ item, shown, cwd }: { readonly item: Item; readonly shown: Shown; readonly cwd: string }): VNode | null {
  const version = shown.item(item.id).value;
  switch (item.kind) {
    case 'message':
      return <Message item={item} />;
    case 'tool':
      return <Tool item={item} version={version} shown={shown} cwd={cwd} />;
    case 'plan':
      return <Plan item={item} />;
    case 'decision':
      return (
        <p class="decision">
          <Icon name={item.isYes === undefined ? 'inbox' : item.isYes ? 'check' : 'cross'} /> <b>{item.outcome}</b> — {item.title}
        </p>
      );
    case 'note':
      return <p class="note">{item.text}</p>;
    case 'end':
      return <End item={item} />;
  }
}

function Message({ item: { role, text, blocks } }: { readonly item: Of<'message'> }): VNode {
  if (role === 'thought')
    return (
      <details class="thought">
        <summary>
          <Icon name="thought" /> {firstLine(text)}
        </summary>
        <Markdown text={text} />
      </details>
    );
  const body = role === 'user' ? <div class="plain">{text}</div> : <Markdown text={text} />;
  return (
    <article class={`message ${role}`} aria-label={role === 'user' ? 'You' : 'Agent'}>
      {text !== '' && body}
      {blocks.map((block) => (
        <BlockView block={block} />
      ))}
    </article>
  );
}

const firstLine = (text: string): string => {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
};

export function BlockView({ block }: { readonly block: Block }): VNode | null {
  switch (block.type) {
    case 'text':
      return <Markdown text={block.text} />;
    case 'image':
      return /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/.test(block.mimeType) ? (
        <img class="media" src={`data:${block.mimeType};base64,${block.data}`} alt="from the conversation" />
      ) : (
        <span class="chip">image of type {block.mimeType}</span>
      );
    case 'audio':
      return (
        // biome-ignore lint/a11y/useMediaCaption: nobody has written down what is said in it
        <audio class="media" controls src={`data:${block.mimeType};base64,${block.data}`} />
      );
    case 'resource_link':
      return (
        <span class="chip file">
          <Icon name="file" />{' '}
          {/^https?:/.test(block.uri) ? <Link to={block.uri}>{block.name ?? block.uri}</Link> : (block.name ?? block.uri)}
        </span>
      );
    case 'resource':
      return (
        <details class="resource">
          <summary>
            <Icon name="file" /> {block.uri}
          </summary>
          <pre>{block.text ?? `of type ${block.mimeType ?? 'unknown'}, not text`}</pre>
        </details>
      );
    case 'other':
      return <pre>{block.text}</pre>;
  }
}

const STATUS: Readonly<Record<string, string>> = { pending: 'waiting', in_progress: 'running', completed: 'done', failed: 'failed' };

/** `version`: items change in place, and what reads signals is drawn again only when something else is given to it. */
function Tool({ item, shown, cwd }: { item: Of<'tool'>; version: number; shown: Shown; cwd: string }): VNode {
  const { title, toolKind = 'other', status = 'pending', content = [], locations = [], input, output } = item;
  const isTelling = content.some(({ type }) => type === 'diff' || type === 'terminal');
  // What is asked about is shown with the question.
  const isAsked = questions.value.some(
    ({ sessionId, toolCallId }) => sessionId === shown.conversation.sessionId && toolCallId === item.toolCallId,
  );
  const hasMore = content.length > 0 || input !== undefined || output !== undefined;
  const head = (
    <>
      <Icon name={toolKind} />
      <span class="title">{title ?? item.toolCallId}</span>
      {locations.length > 0 && <span class="where">{[...new Set(locations)].map((path) => shortened(path, cwd)).join(', ')}</span>}
      <span class={`status ${status}`}>{STATUS[status] ?? status}</span>
    </>
  );
  if (!hasMore)
    return (
      <div class="tool">
        <div class="head">{head}</div>
      </div>
    );
  return (
    <details class="tool" open={isTelling && !isAsked}>
      <summary class="head">{head}</summary>
      <div class="inside">
        {content.map((one) => (
          <Content content={one} shown={shown} cwd={cwd} />
        ))}
        {input !== undefined && !isTelling && <Raw name="Input" text={input} />}
        {output !== undefined && !content.some(({ type }) => type === 'terminal') && <Raw name="Output" text={output} />}
      </div>
    </details>
  );
}

export function Content({
  content,
  shown,
  cwd,
}: {
  readonly content: ToolContent;
  readonly shown?: Shown;
  readonly cwd: string;
}): VNode | null {
  if (content.type === 'diff') return <Diff path={content.path} oldText={content.oldText} newText={content.newText} cwd={cwd} />;
  if (content.type === 'terminal') return <Printed output={shown?.conversation.outputs[content.terminalId]} />;
  return <BlockView block={content.content} />;
}

export function Raw({ name, text }: { readonly name: string; readonly text: string }): VNode {
  return (
    <details class="raw">
      <summary>{name}</summary>
      <pre>{text}</pre>
    </details>
  );
}

const MARKS: Readonly<Record<string, string>> = { completed: 'done', in_progress: 'now', pending: 'todo' };

function Plan({ item: { entries } }: { readonly item: Of<'plan'> }): VNode {
  const done = entries.filter(({ status }) => status === 'completed').length;
  return (
    <section class="plan" aria-label="Plan">
      <header>
        <Icon name="plan" /> Plan{' '}
        <span class="dim">
          {done} of {entries.length}
        </span>
      </header>
      <ol>
        {entries.map(({ content, status, priority }) => (
          <li class={MARKS[status] ?? 'todo'}>
            {content}
            {priority === 'high' && <span class="chip">high</span>}
          </li>
        ))}
      </ol>
    </section>
  );
}

const REASONS: Readonly<Record<string, string>> = {
  end_turn: '',
  cancelled: 'Cancelled',
  refusal: 'The agent refused to go on; the last prompt and what followed it are not part of the conversation.',
  max_tokens: 'Stopped: the limit of tokens was reached',
  max_turn_requests: 'Stopped: the limit of requests in one turn was reached',
};

function End({ item: { stopReason, error } }: { readonly item: Of<'end'> }): VNode {
  if (error !== undefined)
    return (
      <div class="failure" role="alert">
        <Icon name="warning" />
        <pre>{error}</pre>
      </div>
    );
  const words = REASONS[stopReason ?? ''] ?? `Stopped: ${stopReason ?? 'for no reason given'}`;
  return <div class={words === '' ? 'end' : 'end told'}>{words}</div>;
}
