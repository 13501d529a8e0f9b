// Modes, models and options of a session as one list of settings, and the request that changes one.
import { readModels, readModes } from '../acp/shapes.ts';
import { fields, type JsonObject } from '../json-object.ts';

export type Choice = { readonly value: string; readonly name: string };
export type Setting = {
  readonly id: string;
  readonly name: string;
  /** `_agent` for the choice of the agent, else as the agent says: `mode`, `model` and others. */
  readonly category: string | undefined;
  readonly value: string | boolean;
  /** Empty for a switch. */
  readonly choices: readonly Choice[];
};

/** `by`: the method that changes it. */
type Kept = Setting & { readonly by: (typeof BY)[number] };
const BY = ['session/set_config_option', 'session/set_mode', 'session/set_model'] as const;

export type Settings = {
  list(): readonly Setting[];
  /** The result of a session's opening, or of a change. */
  read(result: unknown): void;
  /** Returns whether the update was about settings. */
  update(update: JsonObject): boolean;
  /** Undefined if there is no such setting. */
  change(sessionId: string, id: string, value: string | boolean): { readonly method: Kept['by']; readonly params: JsonObject } | undefined;
  /** A change without an answer that tells the new state. */
  changed(id: string, value: string | boolean): void;
};

export function createSettings(): Settings {
  let all: readonly Kept[] = [];
  const set = (by: Kept['by'], settings: readonly Kept[]) => {
    all = BY.flatMap((method) => (method === by ? settings : all.filter((one) => one.by === method)));
  };
  const put = (id: string, value: string | boolean, by?: Kept['by']) => {
    all = all.map((one) => (one.id === id && (by === undefined || one.by === by) ? { ...one, value } : one));
  };
  function read(result: unknown): void {
    const { modes, models, configOptions } = fields(result);
    if (Array.isArray(configOptions)) set('session/set_config_option', configOptions.flatMap(optionOf));
    const hasOption = (category: string) => all.some((one) => one.by === 'session/set_config_option' && one.category === category);
    const mode = readModes(modes);
    if (mode && !hasOption('mode')) set('session/set_mode', [modeOf(mode)]);
    const model = readModels(models);
    if (model && !hasOption('model')) set('session/set_model', [modelOf(model)]);
  }
  return {
    list: () => all.map(({ by: _, ...setting }) => setting),
    read,
    update(update) {
      if (update.sessionUpdate === 'config_option_update') read(update);
      else if (update.sessionUpdate === 'current_mode_update')
        put('mode', String(update.currentModeId ?? update.modeId), 'session/set_mode');
      else return false;
      return true;
    },
    change(sessionId, id, value) {
      const one = all.find((setting) => setting.id === id);
      if (!one) return undefined;
      if (one.by === 'session/set_mode') return { method: one.by, params: { sessionId, modeId: value } };
      if (one.by === 'session/set_model') return { method: one.by, params: { sessionId, modelId: value } };
      const typed = typeof value === 'boolean' ? { type: 'boolean', value } : { value };
      return { method: one.by, params: { sessionId, configId: id, ...typed } };
    },
    changed: (id, value) => put(id, value),
  };
}

function modeOf({ currentModeId, availableModes }: NonNullable<ReturnType<typeof readModes>>): Kept {
  const choices = availableModes.map(({ id, name }) => ({ value: id, name }));
  return { id: 'mode', name: 'Mode', category: 'mode', value: currentModeId, choices, by: 'session/set_mode' };
}

function modelOf({ currentModelId, availableModels }: NonNullable<ReturnType<typeof readModels>>): Kept {
  const choices = availableModels.map(({ modelId, name }) => ({ value: modelId, name }));
  return { id: 'model', name: 'Model', category: 'model', value: currentModelId, choices, by: 'session/set_model' };
}

function optionOf(option: unknown): Kept[] {
  const { id, name, category, currentValue, options } = fields(option);
  if (typeof id !== 'string' || (typeof currentValue !== 'string' && typeof currentValue !== 'boolean')) return [];
  // Choices may be in groups.
  const entries = (Array.isArray(options) ? options : []).map(fields);
  const choices = entries.flatMap((entry) => (Array.isArray(entry.options) ? entry.options.map(fields) : [entry]));
  return [
    {
      id,
      name: typeof name === 'string' ? name : id,
      category: typeof category === 'string' ? category : undefined,
      value: currentValue,
      choices: choices.flatMap(({ value, name: label }) =>
        typeof value === 'string' ? [{ value, name: typeof label === 'string' ? label : value }] : [],
      ),
      by: 'session/set_config_option',
    },
  ];
}
