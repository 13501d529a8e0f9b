// Prompts that are not sent yet, by session. They survive navigation and reload: the browser stores the text at once, and attachments, which
// may be large, in a database.
import { type Signal, signal } from '@preact/signals';
import type { PromptBlock } from '../../../src/console/protocol/sessions.ts';
import type { Attached } from './attach.ts';

export type Draft = { readonly text: string; readonly attached: readonly Attached[] };

const KEY = 'switchboard-drafts';
const STORE = 'attachments';
const MOST_DRAFTS = 50;
const MAX_STORED_CHARACTERS = 200_000;
const KEPT_MS = 7 * 24 * 3600 * 1000;

const drafts = new Map<string, Signal<Draft>>();
/** The blocks of the last prompt that this page sent, by session, to send them again after an error. */
const sent = new Map<string, readonly PromptBlock[]>();

/** The draft of a session. Its attachments arrive a moment later. */
export function draftOf(sessionId: string): Signal<Draft> {
  const known = drafts.get(sessionId);
  if (known) return known;
  const draft = signal<Draft>({ text: texts()[sessionId] ?? '', attached: [] });
  drafts.set(sessionId, draft);
  void storedAttachments(sessionId).then(
    (attached) => {
      if (attached.length > 0 && draft.value.attached.length === 0) draft.value = { ...draft.value, attached };
    },
    () => {}, // the browser offers no database, as in some private windows
  );
  return draft;
}

export function setDraft(sessionId: string, news: Partial<Draft>): void {
  const draft = draftOf(sessionId);
  const before = draft.value;
  draft.value = { ...before, ...news };
  if (news.text !== undefined && news.text !== before.text) storeText(sessionId, news.text);
  if (news.attached !== undefined && news.attached !== before.attached) void storeAttachments(sessionId, news.attached).catch(() => {});
}

export const rememberSent = (sessionId: string, blocks: readonly PromptBlock[]): void => void sent.set(sessionId, blocks);
export const lastSent = (sessionId: string): readonly PromptBlock[] | undefined => sent.get(sessionId);

function texts(): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as Record<string, string>;
  } catch {
    return {};
  }
}

function storeText(sessionId: string, text: string): void {
  const { [sessionId]: _, ...others } = texts();
  const all = text === '' || text.length > MAX_STORED_CHARACTERS ? others : { ...others, [sessionId]: text };
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(Object.entries(all).slice(-MOST_DRAFTS))));
  } catch {
    // no room: the draft lives as long as the page
  }
}

type Stored = { readonly at: number; readonly attached: readonly Attached[] };

let opened: Promise<IDBDatabase> | undefined;

function database(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open('switchboard', 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => {
      resolve(request.result);
      removeOld(request.result);
    };
    request.onerror = () => reject(request.error);
  });
  return opened;
}

function removeOld(db: IDBDatabase): void {
  const cursor = db.transaction(STORE, 'readwrite').objectStore(STORE).openCursor();
  cursor.onsuccess = () => {
    const { result } = cursor;
    if (!result) return;
    if (Date.now() - (result.value as Stored).at > KEPT_MS) result.delete();
    result.continue();
  };
}

async function storedAttachments(sessionId: string): Promise<readonly Attached[]> {
  const db = await database();
  return new Promise((resolve, reject) => {
    const request = db.transaction(STORE).objectStore(STORE).get(sessionId);
    request.onsuccess = () => resolve((request.result as Stored | undefined)?.attached ?? []);
    request.onerror = () => reject(request.error);
  });
}

async function storeAttachments(sessionId: string, attached: readonly Attached[]): Promise<void> {
  const store = (await database()).transaction(STORE, 'readwrite').objectStore(STORE);
  if (attached.length === 0) store.delete(sessionId);
  else store.put({ at: Date.now(), attached } satisfies Stored, sessionId);
}
