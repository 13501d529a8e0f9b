// The connection to the server: exchanges the link, then keeps one socket open, reconnects and resumes.
import { signal } from '@preact/signals';
import type { Actions, Failure, FromPage, FromServer, Hello, Topics } from '../src/console/protocol/messages.ts';

/** `out`: this page has no access, or lost it. */
export const status = signal<'connecting' | 'open' | 'lost' | 'out'>('connecting');
/** Why the page has no access. */
export const refusal = signal('');
/** Something to tell the user once. */
export const notice = signal('');
/** This page's id in answers. */
export const pageId = signal('');

export class Refused extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

type Waiting = { readonly resolve: (result: unknown) => void; readonly reject: (error: Error) => void };

type Subscription = {
  readonly params: unknown;
  readonly receive: (news: never) => void;
  readonly onResult: (error: Error | undefined) => void;
};

const PAGE_KEY = 'switchboard-word';
const waiting = new Map<number, Waiting>();
const subscriptions = new Map<string, Subscription>();
let socket: WebSocket | undefined;
let nextId = 0;
let delayMs = 250;
let where: () => Omit<Hello, 'hello'> = () => ({});
let receive: (message: FromServer) => void = () => {};

/** `position` returns the state this page already has. */
export async function connect(position: () => Omit<Hello, 'hello'>, listener: (message: FromServer) => void): Promise<void> {
  where = position;
  receive = listener;
  const problem = await takeToken();
  // A used link may be open in a tab that already has access.
  if (problem !== undefined && localStorage.getItem(PAGE_KEY) === null) return out(problem);
  if (problem !== undefined) notice.value = `${problem} This browser already has access, so this is another view of the same console.`;
  // A link that is opened in a tab of the console changes the address, but loads nothing.
  addEventListener('hashchange', () => void renew());
  open();
}

/** Takes the token from the address, if there is one, and exchanges it. Returns a reason when that fails. */
async function takeToken(): Promise<string | undefined> {
  const token = location.hash.slice(1);
  if (!/^[\w-]{43}$/.test(token)) return undefined;
  history.replaceState(null, '', location.pathname); // keep the token off the screen and out of the history
  return enter(token);
}

/** A fresh link gives a page without access its access back. */
async function renew(): Promise<void> {
  const isToken = /^#[\w-]{43}$/.test(location.hash);
  if (!isToken) return;
  const isOut = status.value !== 'open';
  const problem = await takeToken();
  if (problem === undefined && isOut)
    location.reload(); // the page itself may be of an older version, too
  else if (isOut) out(problem ?? '');
  else notice.value = problem === undefined ? 'This tab already had access; the link is used up.' : `${problem} This tab has access.`;
}

/** Exchanges the token for a page key. Returns a reason when that fails. */
async function enter(token: string): Promise<string | undefined> {
  try {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch('/enter', { method: 'POST', headers, body: JSON.stringify({ token }) });
    if (answer.ok) localStorage.setItem(PAGE_KEY, ((await answer.json()) as { pageKey: string }).pageKey);
    else if (answer.status === 401) return 'The link is invalid or was already used.';
    else return `The console rejected the link: ${(await answer.text()).trim() || answer.status}.`;
  } catch {
    return 'The console did not respond. It may have stopped, or it blocks this page after too many wrong links.';
  }
  return undefined;
}

function out(why: string): void {
  refusal.value = why;
  status.value = 'out';
}

function open(): void {
  const pageKey = localStorage.getItem(PAGE_KEY);
  if (pageKey === null) return out('Open the console with its link.');
  const mine = new WebSocket(`ws://${location.host}/socket`);
  let wasOpen = false;
  socket = mine;
  mine.onopen = () => {
    wasOpen = true;
    mine.send(JSON.stringify({ hello: pageKey, ...where() }));
  };
  mine.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as FromServer;
    if (message.t === 'welcome') {
      pageId.value = message.page;
      status.value = 'open';
      delayMs = 250;
      for (const [topic, { params, onResult }] of subscriptions) begin(topic as keyof Topics, params, onResult);
    }
    if (message.t === 'answer') answered(message);
    else receive(message);
  };
  mine.onclose = ({ code }) => {
    for (const { reject } of waiting.values()) reject(new Refused({ message: 'the connection was lost' }));
    waiting.clear();
    if (code === 4401) return out('This page no longer has access. Open a new link.');
    status.value = 'lost';
    setTimeout(() => void again(wasOpen), delayMs);
    delayMs = Math.min(delayMs * 2, 5000);
  };
}

/** A refused socket gives no reason, so check whether the server is there at all. */
async function again(wasOpen: boolean): Promise<void> {
  if (!wasOpen) {
    const isThere = await fetch('/', { method: 'HEAD' }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere && delayMs > 1000) return out('This page has no access. Open a new link.');
  }
  open();
}

function answered({ re, result, error }: Extract<FromServer, { t: 'answer' }>): void {
  const one = waiting.get(re);
  waiting.delete(re);
  if (error) one?.reject(new Refused(error));
  else one?.resolve(result);
}

function send(message: Omit<FromPage, 'id'>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (socket?.readyState !== WebSocket.OPEN) return reject(new Refused({ message: 'not connected' }));
    const id = nextId++;
    waiting.set(id, { resolve, reject });
    socket.send(JSON.stringify({ id, ...message }));
  });
}

/** Rejects with the server's error. */
export const ask = <Name extends keyof Actions>(action: Name, params: Actions[Name]['params']): Promise<Actions[Name]['result']> =>
  send({ action, params }) as Promise<Actions[Name]['result']>;

/**
 * Subscribes to a topic and keeps the subscription across reconnects. A topic has one subscription: a new one replaces it. `onResult` gets
 * the server's response. Returns how to unsubscribe.
 */
export function subscribe<Name extends keyof Topics>(
  topic: Name,
  params: Topics[Name]['params'],
  onNews: (news: Topics[Name]['news']) => void,
  onResult: (error: Error | undefined) => void = () => {},
): () => void {
  const mine: Subscription = { params, receive: onNews, onResult };
  subscriptions.set(topic, mine);
  if (status.value === 'open') begin(topic, params, onResult);
  return () => {
    if (subscriptions.get(topic) !== mine) return;
    subscriptions.delete(topic);
    send({ action: 'unsubscribe', topic }).catch(() => {});
  };
}

function begin(topic: keyof Topics, params: unknown, onResult: Subscription['onResult']): void {
  send({ action: 'subscribe', topic, params }).then(
    () => onResult(undefined),
    (error: Error) => onResult(error),
  );
}

/** Passes a message to the topic's subscriber, before the page renders. */
export function deliver({ topic, news }: Extract<FromServer, { t: 'news' }>): void {
  subscriptions.get(topic)?.receive(news as never);
}
