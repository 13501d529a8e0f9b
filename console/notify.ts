// Tells the user while the page is out of sight that an agent asks, or that a turn has ended. Off until the user turns it on.
import { effect, signal } from '@preact/signals';
import { go, toSession } from './route.ts';
import { requests, sessions } from './state.ts';

/** If this is in the browser's storage, `main.tsx` loads this file. */
const NOTIFY = 'switchboard-notify';

export const isNotifying = signal(localStorage.getItem(NOTIFY) === 'yes');
let isStarted = false;

/** False if the browser does not allow it. */
export async function notify(wanted: boolean): Promise<boolean> {
  const isAllowed = wanted && (await Notification.requestPermission()) === 'granted';
  isNotifying.value = isAllowed;
  if (isAllowed) localStorage.setItem(NOTIFY, 'yes');
  else localStorage.removeItem(NOTIFY);
  if (isAllowed) startNotifying();
  return isAllowed === wanted;
}

export function startNotifying(): void {
  if (isStarted) return;
  isStarted = true;
  let known: ReadonlySet<string> | undefined;
  effect(() => {
    for (const { requestId, agent, title, sessionId } of requests.value)
      if (known?.has(requestId) === false) tell(`${agent} asks`, title, sessionId, requestId);
    known = new Set(requests.value.map(({ requestId }) => requestId));
  });
  let busy: ReadonlySet<string> = new Set();
  effect(() => {
    const all = [...sessions.value.values()];
    for (const { sessionId, state, agent, title } of all)
      if (state === 'idle' && busy.has(sessionId)) tell(`${agent} is done`, title, sessionId, sessionId);
    busy = new Set(all.filter(({ state }) => state === 'running' || state === 'asking').map(({ sessionId }) => sessionId));
  });
}

/** Several pages have the same tag, so that the user sees it once. */
function tell(title: string, body: string, sessionId: string, tag: string): void {
  if (!isNotifying.value || document.hasFocus() || Notification.permission !== 'granted') return;
  const shown = new Notification(title, { body, tag });
  shown.onclick = () => {
    focus();
    go(sessionId === '' ? '#/inbox' : toSession(sessionId));
    shown.close();
  };
}
