// One session that is open here: its agent, settings and commands, the text of each of its turns, and the turn that runs.
import { fields, type JsonObject } from '../json-object.ts';
import { createSettings, type Setting, type Settings } from './session-settings.ts';
import type { TurnRecord } from './turn-record.ts';

export type Command = { readonly name: string; readonly description: string; readonly hint: string | undefined };

export type SessionShown = {
  readonly sessionId: string;
  readonly agent: string | undefined;
  readonly cwd: string | undefined;
  readonly title: string | undefined;
  readonly settings: readonly Setting[];
  readonly commands: readonly Command[];
  /** How many turns began here. */
  readonly turns: number;
  readonly isRunning: boolean;
};

export type RunningTurn<H> = { readonly record: TurnRecord; readonly handlers: H; readonly over: Promise<void> };

export type LiveSession<H> = {
  readonly sessionId: string;
  readonly settings: Settings;
  turn: RunningTurn<H> | undefined;
  opened(about: { readonly agent?: string | undefined; readonly cwd?: string | undefined }, result: unknown): void;
  /** Records an update outside a turn's record; returns whether commands changed. */
  update(update: JsonObject): boolean;
  /** Begins the text of another turn. */
  begin(prompt: string): void;
  note(words: string): void;
  /** The text of all turns, or of one, counted from 1. */
  words(turn?: number): string | undefined;
  shown(): SessionShown;
};

const MAX_TRANSCRIPT = 4 * 1024 * 1024;

export function createLiveSession<H>(sessionId: string): LiveSession<H> {
  const settings = createSettings();
  const turns: string[] = [];
  let size = 0;
  let commands: readonly Command[] = [];
  let agent: string | undefined;
  let cwd: string | undefined;
  let title: string | undefined;

  const self: LiveSession<H> = {
    sessionId,
    settings,
    turn: undefined,
    opened(about, result) {
      agent = about.agent ?? agent;
      cwd = about.cwd ?? cwd;
      settings.read(result);
    },
    update(update) {
      if (settings.update(update)) return false;
      if (update.sessionUpdate === 'session_info_update' && typeof update.title === 'string') title = update.title;
      if (update.sessionUpdate !== 'available_commands_update' || !Array.isArray(update.availableCommands)) return false;
      commands = update.availableCommands.map(fields).flatMap(({ name, description, input }) => {
        const { hint } = fields(input);
        const about = typeof description === 'string' ? description : '';
        return typeof name === 'string' ? [{ name, description: about, hint: typeof hint === 'string' ? hint : undefined }] : [];
      });
      return true;
    },
    begin(prompt) {
      turns.push('');
      self.note(`> ${prompt.replaceAll('\n', '\n> ')}\n\n`);
    },
    note(words) {
      if (turns.length === 0 || size >= MAX_TRANSCRIPT) return;
      size += words.length;
      turns[turns.length - 1] += words;
    },
    words: (turn) => (turn === undefined ? turns.join('\n\n') : turns[turn - 1]),
    shown: () => ({
      ...{ sessionId, cwd, title, commands, turns: turns.length, isRunning: self.turn !== undefined },
      agent: agentIn(settings.list()) ?? agent,
      settings: settings.list().filter(({ category }) => category !== '_agent'),
    }),
  };
  return self;
}

function agentIn(settings: readonly Setting[]): string | undefined {
  const value = settings.find(({ category }) => category === '_agent')?.value;
  return typeof value === 'string' ? value : undefined;
}
