// What a client cannot take, though agents may send it: they know the capabilities of the client that initialized the proxy. For the client
// that lacks one, an update is withheld or made plainer. All others get the agent's bytes.
import { fields } from '../json-object.ts';
import { notificationLine } from '../proxy/json-rpc-lines.ts';
import { type Frame, textOf } from '../wire/frame.ts';
import { memberAt, stringAt } from '../wire/json-path.ts';
import type { AttachedClient, ClientCapabilities, LiveSession, SharedProxy } from './state.ts';

type Update = Readonly<Record<string, unknown>>;
type Plainer = (update: Update, client: AttachedClient, proxy: SharedProxy) => Update | undefined;

const NO_CAPABILITIES: Partial<ClientCapabilities> = {};

/** Whether agents may use a capability that the client does not have. */
export function lacks({ capabilities }: Pick<AttachedClient, 'capabilities'>, proxy: SharedProxy, name: keyof ClientCapabilities): boolean {
  return proxy.offered?.[name] === true && (capabilities ?? NO_CAPABILITIES)[name] !== true;
}

const SHOWN = ['booleanOptions', 'notices', 'compaction', 'plans', 'subagents'] as const;

/** Whether some updates are not for this client as they are. */
export const isLesser = (client: AttachedClient, proxy: SharedProxy): boolean => SHOWN.some((name) => lacks(client, proxy, name));

/** Undefined withholds the update. */
const PLAINER: Readonly<Record<string, readonly [keyof ClientCapabilities, Plainer]>> = {
  config_option_update: ['booleanOptions', (update) => withoutBooleans(update)],
  notice: ['notices', asThought],
  compaction_update: ['compaction', () => undefined],
  compaction_summary_chunk: ['compaction', () => undefined],
  plan_update: ['plans', asPlan],
  plan_removed: ['plans', () => undefined],
  subagent_update: ['subagents', () => undefined],
};

/** Options of type boolean are left out. */
export function withoutBooleans<T extends Readonly<Record<string, unknown>>>(holder: T): T {
  const { configOptions } = holder;
  if (!Array.isArray(configOptions)) return holder;
  return { ...holder, configOptions: configOptions.filter((option) => fields(option).type !== 'boolean') };
}

/** As the proxy does for a client without notices. */
function asThought({ title, description }: Update): Update {
  const text = `[${[title, description].filter((one) => typeof one === 'string').join('. ')}]\n`;
  return { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } };
}

/** The plan of earlier versions is a list of entries. */
function asPlan({ plan }: Update): Update | undefined {
  const { entries } = fields(plan);
  return Array.isArray(entries) ? { sessionUpdate: 'plan', entries } : undefined;
}

const TERMINAL_ID = Buffer.from('"terminalId"');

/** Whether all clients of the session get the same bytes, whatever comes. */
export const isSameForAll = ({ lesser, proxy }: LiveSession): boolean => lesser.size === 0 && proxy.shownTerminals.size === 0;

/** The update as this client gets it: 'same' for the agent's bytes, a line of its own, or undefined for nothing. */
export function updateFor(client: AttachedClient, { proxy, lesser }: LiveSession, frame: Frame): 'same' | string | undefined {
  if (frame.method !== 'session/update') return 'same';
  const { bytes, body, start, end } = frame;
  const kind = stringAt(bytes, memberAt(bytes, body, 'update', 'sessionUpdate')) ?? '';
  if (kind === 'tool_call' || kind === 'tool_call_update') {
    const hasTerminal = proxy.shownTerminals.size > 0 && bytes.subarray(start, end).includes(TERMINAL_ID);
    return hasTerminal ? withUpdate(frame, (update) => withoutTerminals(update, client, proxy)) : 'same';
  }
  const [capability, plainer] = (lesser.has(client) && PLAINER[kind]) || [];
  if (!capability || !plainer || !lacks(client, proxy, capability)) return 'same';
  return withUpdate(frame, (update) => plainer(update, client, proxy));
}

function withUpdate({ bytes, body }: Frame, change: (update: Update) => Update | undefined): 'same' | string | undefined {
  if (!body) return 'same';
  const params = fields(JSON.parse(textOf(bytes, body)));
  const before = fields(params.update);
  const update = change(before);
  if (update === before) return 'same';
  return update && notificationLine('session/update', JSON.stringify({ ...params, update }));
}

/** A terminal is on the machine of the client that created it. Others know nothing of its id. */
function withoutTerminals(update: Update, client: AttachedClient, { shownTerminals }: SharedProxy): Update {
  const isForeign = (item: unknown) => {
    const owner = shownTerminals.get(String(fields(item).terminalId));
    return fields(item).type === 'terminal' && owner !== undefined && owner !== client;
  };
  const { content } = update;
  if (!Array.isArray(content) || !content.some(isForeign)) return update;
  return { ...update, content: content.map((item) => (isForeign(item) ? ELSEWHERE : item)) };
}

const ELSEWHERE = { type: 'content', content: { type: 'text', text: '(a terminal of another client)' } };
