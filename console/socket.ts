// The way to the server: in by the link, then one socket that is opened again whenever it is lost, and goes on where it was.
import { signal } from '@preact/signals';
import type { Actions, Failure, FromPage, FromServer, Hello, Topics } from '../src/console/protocol/messages.ts';

/** `out`: this page has not been let in, or not any more. */
export const status = signal<'connecting' | 'open' | 'lost' | 'out'>('connecting');
/** Why the page is out. */
export const refusal = signal('');
/** What this page goes by in answers. */
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

/** `position` says what this page has already. */
export async function connect(position: () => Omit<Hello, 'hello'>, listener: (message: FromServer) => void): Promise<void> {
  where = position;
  receive = listener;
  const token = location.hash.slice(1);
  if (/^[\w-]{43}$/.test(token)) {
    history.replaceState(null, '', location.pathname); // it is not to be read off the screen, or found in the history
    const problem = await enter(token);
    // A link that was used before may still be in a tab that is let in already.
    if (problem !== undefined && localStorage.getItem(PAGE_KEY) === null) return out(problem);
  }
  open();
}

/** The token for a word that lets this page in; why not, when it does not. */
async function enter(token: string): Promise<string | undefined> {
  try {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch('/enter', { method: 'POST', headers, body: JSON.stringify({ token }) });
    if (answer.ok) localStorage.setItem(PAGE_KEY, ((await answer.json()) as { pageKey: string }).pageKey);
    else if (answer.status === 401) return 'The link is not valid, or was used before.';
    else return `The console did not take the link: ${(await answer.text()).trim() || answer.status}.`;
  } catch {
    return 'The console did not answer when the link was handed in; it may have ended, or have cut this page off after too many wrong links.';
  }
  return undefined;
}

function out(why: string): void {
  refusal.value = why;
  status.value = 'out';
}

function open(): void {
  const pageKey = localStorage.getItem(PAGE_KEY);
  if (pageKey === null) return out('The console is opened with a link.');
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
    if (code === 4401) return out('This page is not let in any more. Open it with a new link.');
    status.value = 'lost';
    setTimeout(() => void again(wasOpen), delayMs);
    delayMs = Math.min(delayMs * 2, 5000);
  };
}

/** A socket that is refused says nothing of why; the page itself is asked whether the server is there at all. */
async function again(wasOpen: boolean): Promise<void> {
  if (!wasOpen) {
    const isThere = await fetch('/', { method: 'HEAD' }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere && delayMs > 1000) return out('This page is not let in. Open it with a new link.');
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

/** Rejects with what the server says against it. */
export const ask = <Name extends keyof Actions>(action: Name, params: Actions[Name]['params']): Promise<Actions[Name]['result']> =>
  send({ action, params }) as Promise<Actions[Name]['result']>;

/**
 * What there is to say of a topic, now and from now on, also when the connection was lost in between. One at a time: to follow it again, with
 * something else given, ends the one before. `told` hears whether the server takes it. Returns how to stop.
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

/** News for whoever follows the topic; called when the page is about to be drawn. */
export function deliver({ topic, news }: Extract<FromServer, { t: 'news' }>): void {
  subscriptions.get(topic)?.receive(news as never);
}
