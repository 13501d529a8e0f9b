// Offers models and modes as config options: clients ignore modes once there are options.
import { type Dict, dict, first, isObject, list, text } from '../json.ts';

export type Models = { readonly current: string; readonly models: readonly { readonly id: string; readonly name: string }[] };
export type Modes = { readonly current: string; readonly modes: readonly Dict[] };

/** Reads `{models: [{id, name}], currentModelId}` or a bare list; undefined if there is no choice. */
export function readModels(value: unknown): Models | undefined {
  const answer = dict(value);
  const entries = Array.isArray(value) ? value : list(first(answer, 'models', 'availableModels', 'available_models'));
  const models = entries.flatMap((entry) => {
    if (typeof entry === 'string') return [{ id: entry, name: entry }];
    const id = text(first(dict(entry), 'id', 'modelId', 'model_id'));
    return id === undefined ? [] : [{ id, name: text(dict(entry).name) ?? id }];
  });
  const [one] = models;
  if (!one) return undefined;
  return { models, current: text(first(answer, 'currentModelId', 'current_model_id', 'current')) ?? one.id };
}

export function readModes(value: unknown): Modes | undefined {
  const { currentModeId, availableModes } = dict(value);
  const modes = list(availableModes).filter((mode): mode is Dict => isObject(mode) && typeof mode.id === 'string');
  return typeof currentModeId === 'string' && modes.length > 0 ? { current: currentModeId, modes } : undefined;
}

/** The agent's own options, followed by those derived from its models and modes. */
export function optionsOf(own: readonly unknown[], models: Models, modes: Modes | undefined): readonly unknown[] {
  const taken = own.map((option) => dict(option).id);
  const ours = [
    ...(modes ? [select('mode', 'Mode', modes.current, modes.modes)] : []),
    select('model', 'Model', models.current, models.models),
  ];
  return [...own, ...ours.filter(({ id }) => !taken.includes(id))];
}

const select = (id: string, name: string, currentValue: string, choices: readonly Dict[]) => ({
  ...{ id, name, category: id, type: 'select', currentValue },
  options: choices.map((choice) => ({
    value: choice.id,
    name: text(choice.name) ?? choice.id,
    ...(typeof choice.description === 'string' && { description: choice.description }),
  })),
});
