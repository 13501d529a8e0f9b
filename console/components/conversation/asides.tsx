// Entries between the messages: plans, notices, subagents, compactions, unknown updates.
import type { VNode } from 'preact';
import type { Item } from '../../../src/console/protocol/conversation.ts';
import { Icon } from '../controls/icon.tsx';
import { Raw } from './content.tsx';
import { Markdown } from './markdown.tsx';

type Of<Kind extends Item['kind']> = { readonly item: Extract<Item, { kind: Kind }> };

const MARKS: Readonly<Record<string, string>> = { completed: 'done', in_progress: 'now', pending: 'todo' };

export function Plan({ item: { entries, text, uri } }: Of<'plan'>): VNode | null {
  if (entries.length === 0 && text === undefined && uri === undefined) return null;
  const done = entries.filter(({ status }) => status === 'completed').length;
  return (
    <section class="plan" aria-label="Plan">
      <header>
        <Icon name="plan" /> Plan{' '}
        {entries.length > 0 && (
          <span class="dim">
            {done} of {entries.length}
          </span>
        )}
      </header>
      <ol>
        {entries.map(({ content, status, priority }) => (
          <li class={MARKS[status] ?? 'todo'}>
            {content}
            {priority === 'high' && <span class="chip">high</span>}
          </li>
        ))}
      </ol>
      {text !== undefined && <Markdown text={text} />}
      {uri !== undefined && <p class="dim">{uri}</p>}
    </section>
  );
}

export function Note({ item: { text, severity } }: Of<'note'>): VNode {
  const isLoud = severity === 'warning' || severity === 'error';
  return (
    <p class={isLoud ? `note ${severity}` : 'note'}>
      {isLoud && <Icon name="warning" />} {text}
    </p>
  );
}

const COMPACTING: Readonly<Record<string, string>> = {
  in_progress: 'Compacting the conversation…',
  completed: 'The agent compacted the conversation and continues from a summary.',
  failed: 'The conversation could not be compacted.',
  cancelled: 'Compaction was cancelled.',
};

export function Compaction({ item: { status = 'in_progress', summary, error } }: Of<'compaction'>): VNode {
  const label = COMPACTING[status] ?? `Compaction: ${status}`;
  return (
    <section class="aside" aria-label="Compaction">
      <Icon name="transcripts" /> {label}
      {typeof error === 'string' && <p class="bad">{error}</p>}
      {typeof summary === 'string' && summary !== '' && (
        <details class="raw">
          <summary>The summary</summary>
          <Markdown text={summary} />
        </details>
      )}
    </section>
  );
}

export function Subagent({ item: { childId, title, description, state } }: Of<'subagent'>): VNode {
  return (
    <section class="aside" aria-label="Subagent">
      <Icon name="agents" /> <b>{title ?? childId}</b> {typeof state === 'string' && <span class="chip">{state}</span>}
      {typeof description === 'string' && <p class="dim">{description}</p>}
    </section>
  );
}

export function Unknown({ item: { name, count, text } }: Of<'unknown'>): VNode {
  return <Raw name={count === 1 ? name : `${name} (${count} times; the last one)`} text={text} />;
}
