// MCP servers for a new session, by URL. A server that is a program belongs in the configuration.
import type { RefObject, VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { McpServer } from '../../../src/console/protocol/sessions.ts';
import { configured } from '../../state.ts';
import { Icon } from '../controls/icon.tsx';

/** Stored in this browser. `keepsSecrets`: header values too. */
export type Entry = McpServer & { readonly isUsed: boolean; readonly keepsSecrets: boolean };

const PLACE = 'switchboard-mcp-servers';

export function savedServers(): readonly Entry[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(PLACE) ?? '[]');
    return Array.isArray(kept) ? kept.flatMap(entryOf) : [];
  } catch {
    return [];
  }
}

/** Accepts anything that localStorage may hold. */
function entryOf(value: unknown): readonly Entry[] {
  const { type, name, url, headers, isUsed, keepsSecrets } = (value ?? {}) as Partial<Record<keyof Entry, unknown>>;
  if ((type !== 'http' && type !== 'sse') || typeof name !== 'string' || typeof url !== 'string' || !Array.isArray(headers)) return [];
  const pairs = headers.map((pair: { name?: unknown; value?: unknown }) => ({
    name: String(pair?.name ?? ''),
    value: String(pair?.value ?? ''),
  }));
  return [{ type, name, url, headers: pairs, isUsed: isUsed === true, keepsSecrets: keepsSecrets === true }];
}

export function keepServers(entries: readonly Entry[]): void {
  const kept = entries.map((entry) =>
    entry.keepsSecrets ? entry : { ...entry, headers: entry.headers.map(({ name }) => ({ name, value: '' })) },
  );
  localStorage.setItem(PLACE, JSON.stringify(kept));
}

/** The first problem, as a message. */
export function problemWithServers(entries: readonly Entry[]): string | undefined {
  const used = entries.filter(({ isUsed }) => isUsed);
  for (const { name, url, headers } of used) {
    if (name.trim() === '') return 'An MCP server needs a name.';
    if (!/^https?:\/\//.test(url) || !URL.canParse(url))
      return `The address of the MCP server “${name}” must start with http:// or https://.`;
    const empty = headers.find((header) => header.name !== '' && header.value === '');
    if (empty) return `The header “${empty.name}” of the MCP server “${name}” has no value. Values are stored only if you tick the box.`;
  }
  const twice = used.find(({ name }, at) => used.findIndex((other) => other.name === name) !== at);
  return twice && `Two MCP servers are named “${twice.name}”.`;
}

export const serversToSend = (entries: readonly Entry[]): readonly McpServer[] =>
  entries
    .filter(({ isUsed }) => isUsed)
    .map(({ type, name, url, headers }) => ({ type, name, url, headers: headers.filter((header) => header.name !== '') }));

const EMPTY: Entry = { type: 'http', name: '', url: '', headers: [], isUsed: true, keepsSecrets: false };

export function Servers({
  entries,
  set,
}: {
  readonly entries: readonly Entry[];
  readonly set: (entries: readonly Entry[]) => void;
}): VNode {
  const change = (at: number, news: Partial<Entry>) => set(entries.map((entry, index) => (index === at ? { ...entry, ...news } : entry)));
  const list = useKeepFocus<HTMLFieldSetElement>(entries.length, '.server');
  return (
    <fieldset class="servers" ref={list}>
      <legend>MCP servers</legend>
      <p class="dim">
        Remote servers that the agent may use in this session.{' '}
        {configured.value.length > 0 && (
          <>
            It already has the configured ones: <b>{configured.value.join(', ')}</b>.{' '}
          </>
        )}
        Servers that are programs belong in the configuration.
      </p>
      {entries.map((entry, at) => (
        <fieldset class="server" aria-label={entry.name || 'New server'} key={at}>
          <label class="tick">
            <input type="checkbox" checked={entry.isUsed} onChange={({ currentTarget }) => change(at, { isUsed: currentTarget.checked })} />{' '}
            Use
          </label>
          <input
            aria-label="Name"
            placeholder="Name"
            value={entry.name}
            onInput={({ currentTarget }) => change(at, { name: currentTarget.value })}
          />
          <select
            aria-label="Kind"
            value={entry.type}
            onChange={({ currentTarget }) => change(at, { type: currentTarget.value === 'sse' ? 'sse' : 'http' })}
          >
            <option value="http">HTTP</option>
            <option value="sse">SSE</option>
          </select>
          <input
            class="address"
            aria-label="Address"
            type="url"
            placeholder="https://example.com/mcp"
            value={entry.url}
            spellcheck={false}
            onInput={({ currentTarget }) => change(at, { url: currentTarget.value })}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove ${entry.name || 'server'}`}
            onClick={() => set(entries.filter((_, index) => index !== at))}
          >
            <Icon name="cross" />
          </button>
          <Headers entry={entry} change={(news) => change(at, news)} />
        </fieldset>
      ))}
      <button type="button" class="add" onClick={() => set([...entries, EMPTY])}>
        <Icon name="plus" /> Add a server
      </button>
    </fieldset>
  );
}

/** Keyboard users continue in what was added, and do not lose focus when something is removed. */
function useKeepFocus<List extends HTMLElement>(count: number, row: string): RefObject<List | null> {
  const list = useRef<List>(null);
  const before = useRef(count);
  useLayoutEffect(() => {
    const find = (what: string) => [...(list.current?.querySelectorAll<HTMLElement>(`:scope > ${what}`) ?? [])].at(-1);
    if (count < before.current) find('.add')?.focus();
    else if (count > before.current) find(row)?.querySelector<HTMLElement>('input:not([type=checkbox])')?.focus();
    before.current = count;
  }, [count]);
  return list;
}

function Headers({
  entry: { headers, keepsSecrets },
  change,
}: {
  readonly entry: Entry;
  readonly change: (news: Partial<Entry>) => void;
}): VNode {
  const set = (at: number, news: Partial<Entry['headers'][number]>) =>
    change({ headers: headers.map((header, index) => (index === at ? { ...header, ...news } : header)) });
  const list = useKeepFocus<HTMLDivElement>(headers.length, '.header');
  return (
    <div class="headers" ref={list}>
      {headers.map(({ name, value }, at) => (
        <div class="header" key={at}>
          <input
            aria-label="Header"
            placeholder="Authorization"
            value={name}
            onInput={({ currentTarget }) => set(at, { name: currentTarget.value })}
          />
          <input
            aria-label="Value"
            type="password"
            autocomplete="off"
            placeholder="Value"
            value={value}
            onInput={({ currentTarget }) => set(at, { value: currentTarget.value })}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove header ${name}`}
            onClick={() => change({ headers: headers.filter((_, index) => index !== at) })}
          >
            <Icon name="cross" />
          </button>
        </div>
      ))}
      <button type="button" class="quiet add" onClick={() => change({ headers: [...headers, { name: '', value: '' }] })}>
        Add a header
      </button>
      {headers.length > 0 && (
        <label class="tick">
          <input type="checkbox" checked={keepsSecrets} onChange={({ currentTarget }) => change({ keepsSecrets: currentTarget.checked })} />{' '}
          Keep the values in this browser
        </label>
      )}
    </div>
  );
}
