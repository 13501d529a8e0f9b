// The few shapes the proxy acts on. Everything else in a frame passes unread.

export type SessionMode = { readonly id: string; readonly name: string; readonly description?: string | null };
export type SessionModeState = { readonly currentModeId: string; readonly availableModes: readonly SessionMode[] };

/** Removed from the protocol, still sent by agents (codex, gemini, qwen, cline, pi). */
export type SessionModelState = {
  readonly currentModelId: string;
  readonly availableModels: readonly { readonly modelId: string; readonly name: string; readonly description?: string | null }[];
};

export type SelectOption = {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly category: string;
  readonly type: 'select';
  readonly currentValue: string;
  readonly options: readonly { readonly value: string; readonly name: string; readonly description?: string }[];
};

export type AuthMethod = {
  readonly id: string;
  readonly name: string;
  readonly type?: string;
  readonly args?: readonly string[];
  readonly [other: string]: unknown;
};

/** An `initialize` result. Capability objects are open: every release adds some. */
export type InitializeResult = {
  readonly protocolVersion: number;
  readonly agentCapabilities?: Capabilities | null;
  readonly agentInfo?: { readonly name: string; readonly title?: string | null | undefined; readonly version?: string | undefined } | null;
  readonly authMethods?: readonly AuthMethod[] | null;
  readonly [other: string]: unknown;
};

export type Capabilities = { readonly [name: string]: unknown };

export type AvailableCommand = { readonly name: string; readonly description: string; readonly input?: { readonly hint: string } };

/** The switchboard's key inside `_meta`. */
export const META_KEY = 'acp-switchboard';

/** The modes an agent offers; undefined if the value is not a valid list. */
export function readModes(value: unknown): SessionModeState | undefined {
  const { currentModeId, availableModes } = (value ?? {}) as Partial<SessionModeState>;
  if (typeof currentModeId !== 'string' || !Array.isArray(availableModes)) return undefined;
  return { currentModeId, availableModes: availableModes.filter((mode) => isText(mode?.id) && isText(mode.name)) };
}

/** The models an agent offers; undefined if the value is not a valid list. */
export function readModels(value: unknown): SessionModelState | undefined {
  const { currentModelId, availableModels } = (value ?? {}) as Partial<SessionModelState>;
  if (typeof currentModelId !== 'string' || !Array.isArray(availableModels)) return undefined;
  return { currentModelId, availableModels: availableModels.filter((model) => isText(model?.modelId) && isText(model.name)) };
}

const isText = (value: unknown): boolean => typeof value === 'string';

/** Whether a capability is supported: absent, null and false all mean that it is not. */
export const isOffered = (value: unknown): boolean => value !== undefined && value !== null && value !== false;
