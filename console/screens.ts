// All screens: name in the address, label, code to load. To add a screen, add an entry.
import type { FunctionComponent } from 'preact';
import { type Later, later } from './components/controls/later.tsx';
import { Sessions } from './screens/sessions.tsx';

type Shown = FunctionComponent<{ readonly rest: string }>;
export type Screen = {
  readonly name: string;
  /** Its label in the navigation; screens without one are reached from others. */
  readonly label?: string;
  readonly icon?: string;
  /** The navigation entry it belongs to. */
  readonly under?: string;
  readonly Show: Shown | Later<{ readonly rest: string }>;
};

const Chat = later(() => import('./screens/chat.tsx').then((loaded) => loaded.Chat), 'content', 'request', 'chat', 'composer');

export const SCREENS: readonly Screen[] = [
  { name: '', label: 'Sessions', icon: 'sessions', Show: Sessions },
  { name: 'session', under: '', Show: Chat },
  {
    name: 'new',
    under: '',
    Show: later(() => import('./screens/new-session.tsx').then((loaded) => loaded.NewSession), 'form', 'content', 'request'),
  },
  {
    name: 'inbox',
    label: 'Requests',
    icon: 'inbox',
    Show: later(() => import('./screens/inbox.tsx').then((loaded) => loaded.Inbox), 'content', 'request'),
  },
  {
    name: 'frames',
    label: 'Frames',
    icon: 'frames',
    Show: later(() => import('./screens/frames.tsx').then((loaded) => loaded.Frames), 'frames'),
  },
  {
    name: 'agents',
    label: 'Agents',
    icon: 'agents',
    Show: later(() => import('./screens/agents.tsx').then((loaded) => loaded.Agents), 'content', 'agents'),
  },
  {
    name: 'policy',
    label: 'Policy',
    Show: later(() => import('./screens/policy.tsx').then((loaded) => loaded.Policy), 'policy'),
  },
  {
    name: 'charts',
    label: 'Charts',
    icon: 'charts',
    Show: later(() => import('./screens/charts.tsx').then((loaded) => loaded.Charts), 'charts'),
  },
  {
    name: 'transcripts',
    label: 'Transcripts',
    icon: 'transcripts',
    Show: later(() => import('./screens/transcripts.tsx').then((loaded) => loaded.Transcripts), 'transcripts'),
  },
  {
    name: 'settings',
    label: 'Settings',
    icon: 'settings',
    Show: later(() => import('./screens/settings.tsx').then((loaded) => loaded.Settings), 'settings'),
  },
];

export const screenOf = (name: string): Screen => SCREENS.find((screen) => screen.name === name) ?? (SCREENS[0] as Screen);

/** Preloads the most likely next screen while the browser is idle. */
export function fetchNext(): void {
  const fetch = () => void Chat.fetch().catch(() => {});
  if ('requestIdleCallback' in window) requestIdleCallback(fetch);
  else setTimeout(fetch, 1000);
}
