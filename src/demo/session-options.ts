// A session's settings: `modes` for both agents, `configOptions` for the modern one.
import {
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
  type SetSessionConfigOptionRequest,
} from '@agentclientprotocol/sdk';
import type { AgentProfile } from './agents.ts';
import type { SessionRecord } from './session-store.ts';

/** The part that the answers to session/new, load and resume share. */
export function sessionOptions(
  profile: AgentProfile,
  record: SessionRecord,
): { modes: SessionModeState; configOptions?: SessionConfigOption[] } {
  const modes = {
    currentModeId: record.modeId,
    availableModes: profile.modes.map(({ id, name, description }) => ({ id, name, description: description ?? null })),
  };
  return profile.configOptions.length === 0 ? { modes } : { modes, configOptions: configOptions(profile, record) };
}

export function configOptions(profile: AgentProfile, record: SessionRecord): SessionConfigOption[] {
  return profile.configOptions.map(({ id, name, category, options }) => ({
    type: 'select',
    id,
    name,
    category,
    currentValue: record.configValues[id] ?? '',
    options: options.map((option) => ({ ...option })),
  }));
}

export function setMode(profile: AgentProfile, record: SessionRecord, modeId: string): void {
  if (!profile.modes.some((mode) => mode.id === modeId)) throw RequestError.invalidParams({ modeId }, `${profile.title} has no such mode`);
  record.modeId = modeId;
}

export function setConfigOption(profile: AgentProfile, record: SessionRecord, { configId, value }: SetSessionConfigOptionRequest): void {
  const option = profile.configOptions.find(({ id }) => id === configId);
  const choice = option?.options.find((candidate) => candidate.value === value);
  if (choice === undefined) throw RequestError.invalidParams({ configId, value }, `${profile.title} has no such option or value`);
  record.configValues[configId] = choice.value;
}
