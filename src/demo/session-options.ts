// The knobs of a session as the protocol shows them: `modes` for both agents, `configOptions` for the modern one.
import {
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
  type SetSessionConfigOptionRequest,
} from '@agentclientprotocol/sdk';
import type { Persona } from './agents.ts';
import type { SessionRecord } from './session-store.ts';

/** The part that the answers to session/new, load and resume share. */
export function sessionOptions(
  persona: Persona,
  record: SessionRecord,
): { modes: SessionModeState; configOptions?: SessionConfigOption[] } {
  const modes = {
    currentModeId: record.modeId,
    availableModes: persona.modes.map(({ id, name, description }) => ({ id, name, description: description ?? null })),
  };
  return persona.configOptions.length === 0 ? { modes } : { modes, configOptions: configOptions(persona, record) };
}

export function configOptions(persona: Persona, record: SessionRecord): SessionConfigOption[] {
  return persona.configOptions.map(({ id, name, category, options }) => ({
    type: 'select',
    id,
    name,
    category,
    currentValue: record.configValues[id] ?? '',
    options: options.map((option) => ({ ...option })),
  }));
}

export function setMode(persona: Persona, record: SessionRecord, modeId: string): void {
  if (!persona.modes.some((mode) => mode.id === modeId)) throw RequestError.invalidParams({ modeId }, `${persona.title} has no such mode`);
  record.modeId = modeId;
}

export function setConfigOption(persona: Persona, record: SessionRecord, { configId, value }: SetSessionConfigOptionRequest): void {
  const option = persona.configOptions.find(({ id }) => id === configId);
  const choice = option?.options.find((candidate) => candidate.value === value);
  if (choice === undefined) throw RequestError.invalidParams({ configId, value }, `${persona.title} has no such option or value`);
  record.configValues[configId] = choice.value;
}
