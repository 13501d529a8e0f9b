// A session's turns and settings: `prompt`, `cancel`, `permission`, `session.setMode`, `models.list`, `model.select`.
import * as z from 'zod';
import type { JsonObject } from '../../json-object.ts';
import { fields } from '../../json-object.ts';
import { promptBlocks, toAcpBlocks } from '../blocks.ts';
import type { Page, Principal } from '../principal.ts';
import { refusals } from '../refusal.ts';
import { type OpenSession, settingOf } from '../sessions.ts';
import { toPageUpdate } from '../updates.ts';
import { type Op, op } from './op.ts';

/** Without an id, the last session is meant. */
const sessionId = z.string().min(1).nullish();
const requestId = z.union([
  z.int(),
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
]);
const permission = z.object({ requestId, outcome: z.enum(['selected', 'cancelled']), optionId: z.string().nullish() });

/** The other pages have no response, so they get its effect as an update. */
function notifyOthers({ broadcast }: Principal, page: Page, of: string, update: JsonObject): void {
  broadcast({ type: 'session_update', sessionId: of, update: toPageUpdate(update) }, page);
}

/** The session of a prompt; undefined if it was cancelled before the agent had it. */
async function openFor({ sessions, waitingPrompts }: Principal, of: string | undefined): Promise<OpenSession | undefined> {
  const prompt = { sessionId: of, isCancelled: false };
  waitingPrompts.add(prompt);
  try {
    const session = await sessions.use(of);
    return prompt.isCancelled ? undefined : session;
  } finally {
    waitingPrompts.delete(prompt);
  }
}

async function set(session: OpenSession, id: string, value: string): Promise<JsonObject> {
  const { settings, link } = session;
  const change = settings.change(session.sessionId, id, value);
  if (!change) return {};
  const result = await link.client.request<string>(change.method, change.params);
  settings.changed(id, value);
  settings.read(result);
  return fields(result);
}

export const turnOps: Readonly<Record<string, Op>> = {
  prompt: op(z.object({ sessionId, prompt: promptBlocks }), async ({ principal, page }, payload) => {
    const session = await openFor(principal, payload.sessionId ?? principal.sessions.lastId());
    if (!session) return { stopReason: 'cancelled', sessionId: payload.sessionId };
    const blocks = toAcpBlocks(payload.prompt);
    for (const content of blocks) notifyOthers(principal, page, session.sessionId, { sessionUpdate: 'user_message_chunk', content });
    try {
      const result = await session.link.client.request('session/prompt', { sessionId: session.sessionId, prompt: blocks });
      if (result.stopReason === 'refusal') notifyOthers(principal, page, session.sessionId, { sessionUpdate: 'refusal' });
      return { ...result, sessionId: session.sessionId };
    } catch (error) {
      notifyOthers(principal, page, session.sessionId, { sessionUpdate: 'error', message: (error as Error).message });
      throw error;
    }
  }),
  cancel: op(z.object({ sessionId }), ({ principal: { sessions, questions, waitingPrompts } }, payload) => {
    const id = payload.sessionId ?? sessions.lastId();
    if (id === undefined) throw refusals.noSession();
    const session = sessions.get(id);
    // A session that is not open has no turn.
    if (!session && !sessions.find(id)) throw refusals.unknownSession(id);
    for (const prompt of waitingPrompts) if (prompt.sessionId === id) prompt.isCancelled = true;
    session?.link.client.notify('session/cancel', { sessionId: id });
    questions.cancel(id);
    return { sessionId: id };
  }),
  permission: op(permission, ({ principal: { questions } }, { requestId: id, outcome, optionId }) => {
    questions.answer(id, { outcome, optionId: optionId ?? undefined });
    return { requestId: id };
  }),
  'session.setMode': op(z.object({ sessionId, modeId: z.string().min(1) }), async ({ principal, page }, payload) => {
    const session = await principal.sessions.use(payload.sessionId ?? undefined);
    const { modeId } = payload;
    const mode = settingOf(session.settings.list(), 'mode');
    if (mode) await set(session, mode.id, modeId);
    else await session.link.client.request('session/set_mode', { sessionId: session.sessionId, modeId });
    notifyOthers(principal, page, session.sessionId, { sessionUpdate: 'current_mode_update', currentModeId: modeId });
    return { sessionId: session.sessionId, modeId };
  }),
  'models.list': op(z.object({ sessionId }), async ({ principal }, payload) => {
    const { settings } = await principal.sessions.use(payload.sessionId ?? undefined);
    const model = settingOf(settings.list(), 'model');
    const models = (model?.choices ?? []).map(({ value, name }) => ({ id: value, modelId: value, name }));
    return { models, currentModelId: model?.value ?? null };
  }),
  'model.select': op(z.object({ sessionId, modelId: z.string().min(1) }), async ({ principal, page }, payload) => {
    const session = await principal.sessions.use(payload.sessionId ?? undefined);
    const { modelId } = payload;
    const model = settingOf(session.settings.list(), 'model');
    if (!model) throw refusals.noModels();
    const known = model.choices.map(({ value }) => value);
    if (!known.includes(modelId)) throw refusals.unknownModel(modelId, known);
    const { configOptions } = await set(session, model.id, modelId);
    if (configOptions !== undefined)
      notifyOthers(principal, page, session.sessionId, { sessionUpdate: 'config_option_update', configOptions });
    return { sessionId: session.sessionId, modelId };
  }),
};
