// JSON as a tree. Large or deep values start folded and render when opened.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

const OPEN_DEPTH = 6;
const OPEN_MEMBERS = 30;
const MOST_MEMBERS = 500;

export function Tree({ value, name, depth = 0 }: { readonly value: unknown; readonly name?: string; readonly depth?: number }): VNode {
  if (typeof value !== 'object' || value === null)
    return (
      <div class="leaf">
        <Name name={name} />
        <span class={`value ${value === null ? 'null' : typeof value}`}>{JSON.stringify(value)}</span>
      </div>
    );
  return <Branch value={value} name={name} depth={depth} />;
}

function Branch({ value, name, depth }: { readonly value: object; readonly name: string | undefined; readonly depth: number }): VNode {
  const isList = Array.isArray(value);
  const members = Object.entries(value);
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH && members.length <= OPEN_MEMBERS);
  const count = members.length;
  return (
    <details class="branch" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span class="dim">{isList ? `[${count}]` : `{${count}}`}</span>
      </summary>
      {isOpen && members.slice(0, MOST_MEMBERS).map(([key, member]) => <Tree key={key} name={key} value={member} depth={depth + 1} />)}
      {isOpen && count > MOST_MEMBERS && <div class="leaf dim">{count - MOST_MEMBERS} more, in the raw view</div>}
    </details>
  );
}

const Name = ({ name }: { readonly name: string | undefined }): VNode | null =>
  name === undefined ? null : <span class="key">{name}: </span>;
