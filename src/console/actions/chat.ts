// What the chat screen can do: prompt, cancel, answer requests, change options.
import { z } from 'zod';
import type { ChatActions } from '../protocol/chat.ts';
import type { ActionsOf } from '../server/screens.ts';
import { holderOf, type SessionDeps } from './sessions.ts';

const id = z.string().min(1).max(2000);
const inSession = { sessionId: id };
const change = { ...inSession, toolCallId: z.string().max(2000), at: z.int().nonnegative(), print: z.string().min(1).max(64) };
const value = z.union([z.string().max(100_000), z.number(), z.boolean(), z.array(z.int().nonnegative()).max(1000), z.null()]);

export function chatActions(deps: Pick<SessionDeps, 'state' | 'consoleClient' | 'attached'>): ActionsOf<ChatActions> {
  const mine = holderOf(deps);
  return {
    hunks: { params: z.strictObject(change), perform: (given) => mine(given.sessionId).changes.hunks(given) },
    apply: {
      params: z.strictObject({ ...change, hunks: z.array(z.int().nonnegative()).min(1).max(10_000) }),
      perform: (given) => mine(given.sessionId).changes.apply(given),
    },
    reply: {
      params: z.strictObject({ requestId: z.uuid(), action: z.enum(['accept', 'decline', 'cancel']), values: z.array(value).max(200) }),
      perform: (given, page) => deps.state.reply(given, page.id),
    },
    kill: {
      params: z.strictObject({ ...inSession, terminalId: id }),
      perform: ({ sessionId, terminalId }) => mine(sessionId).kill(sessionId, terminalId),
    },
    preview: {
      params: z.strictObject({ ...inSession, uri: z.string().max(8000) }),
      perform: ({ sessionId, uri }) => mine(sessionId).changes.preview(sessionId, uri),
    },
    rename: {
      params: z.strictObject({ ...inSession, title: z.string().trim().min(1).max(400) }),
      perform: ({ sessionId, title }) => mine(sessionId).rename(sessionId, title),
    },
    delete: { params: z.strictObject(inSession), perform: ({ sessionId }) => mine(sessionId).remove(sessionId) },
    fork: { params: z.strictObject(inSession), perform: ({ sessionId }) => mine(sessionId).fork(sessionId) },
  };
}
