// Where each editor keeps its list of agents, and what an entry looks like there.
import os from 'node:os';
import path from 'node:path';
import { fields } from '../config/layer.ts';
import { joinWords, splitWords } from './shell-words.ts';
import type { Start } from './start-command.ts';

export type Places = { readonly env: NodeJS.ProcessEnv; readonly home: string; readonly platform: NodeJS.Platform };

export type Editor = {
  readonly id: string;
  readonly title: string;
  file(places: Places): string;
  /** The keys that lead to its agents. */
  readonly path: readonly string[];
  /** JSON without comments and trailing commas. */
  readonly isStrict: boolean;
  /** What our entry is called there. */
  readonly ourName: string;
  toEntry(start: Start): Readonly<Record<string, unknown>>;
  /** How an entry starts its agent; undefined where it does not say. */
  fromEntry(entry: unknown): Start | undefined;
  /** What the user does next. */
  readonly next: string;
};

const plain = ({ command, args }: Start) => ({ command, args });

function fromPlain(entry: unknown): Start | undefined {
  const { command, args, env } = fields(entry);
  if (typeof command !== 'string' || command === '') return undefined;
  const words = Array.isArray(args) ? args.filter((arg) => typeof arg === 'string') : [];
  const variables = Object.entries(fields(env)).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : []));
  return { command, args: words, ...(variables.length > 0 && { env: Object.fromEntries(variables) }) };
}

export const EDITORS: readonly Editor[] = [
  {
    id: 'zed',
    title: 'Zed',
    file: (places) =>
      path.join(
        places.platform === 'win32' ? appData(places) : xdgConfig(places),
        places.platform === 'win32' ? 'Zed' : 'zed',
        'settings.json',
      ),
    path: ['agent_servers'],
    isStrict: false,
    ourName: 'Switchboard',
    toEntry: (start) => ({ type: 'custom', ...plain(start) }),
    fromEntry: fromPlain,
    next: 'Zed reads it at once: open the agent panel, and choose Switchboard for a new thread',
  },
  {
    id: 'jetbrains',
    title: 'JetBrains IDEs',
    file: ({ home }) => path.join(home, '.jetbrains', 'acp.json'),
    path: ['agent_servers'],
    isStrict: true,
    ourName: 'Switchboard',
    toEntry: plain,
    fromEntry: fromPlain,
    next: 'open the AI chat of the IDE, and choose Switchboard in its list of agents',
  },
  {
    id: 'vscode',
    title: 'VS Code (extension ACP Client)',
    file: (places) => path.join(appConfig(places), 'Code', 'User', 'settings.json'),
    path: ['acp.agents'],
    isStrict: false,
    ourName: 'Switchboard',
    toEntry: plain,
    fromEntry: fromPlain,
    next: 'install the extension ACP Client if you have not, and connect to Switchboard in its view',
  },
  {
    id: 'acp-ui',
    title: 'acp-ui',
    file: (places) => path.join(appConfig(places), 'acp-ui', 'agents.json'),
    path: ['agents'],
    isStrict: true,
    ourName: 'Switchboard',
    toEntry: plain,
    fromEntry: fromPlain,
    next: 'start acp-ui again, and choose Switchboard',
  },
  {
    id: 'acpx',
    title: 'acpx',
    file: ({ home }) => path.join(home, '.acpx', 'config.json'),
    path: ['agents'],
    isStrict: true,
    ourName: 'switchboard',
    toEntry: ({ command, args }) => ({ command: joinWords([command, ...args]) }),
    fromEntry(entry) {
      const { command } = fields(entry);
      const [program, ...args] = (typeof command === 'string' && splitWords(command)) || [];
      return program === undefined ? undefined : { command: program, args };
    },
    next: 'acpx switchboard "hello"',
  },
];

/** As the operating system has it here. */
export function placesHere(): Places {
  return { env: process.env, home: os.homedir(), platform: process.platform };
}

function xdgConfig({ env, home, platform }: Places): string {
  const xdg = platform === 'darwin' ? undefined : env.XDG_CONFIG_HOME;
  return xdg !== undefined && path.isAbsolute(xdg) ? xdg : path.join(home, '.config');
}

function appData({ env, home }: Places): string {
  return env.APPDATA || path.join(home, 'AppData', 'Roaming');
}

function appConfig(places: Places): string {
  if (places.platform === 'win32') return appData(places);
  return places.platform === 'darwin' ? path.join(places.home, 'Library', 'Application Support') : xdgConfig(places);
}
