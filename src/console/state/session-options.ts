// The options of a session: those of the agent, and its modes and models where no option represents them.
import { fields } from '../../json-object.ts';
import type { Choice, Option } from '../protocol/conversation.ts';
import { type Fields, list, MODE_OPTION, MODEL_OPTION, text } from './read-update.ts';

type StandIn = { readonly id: string; readonly category: string; readonly name: string; readonly made: (answer: Fields) => Option[] };

const STAND_INS: readonly StandIn[] = [
  {
    ...{ id: MODE_OPTION, category: 'mode', name: 'Mode' },
    made: ({ modes }) => standIn(STAND_INS[0] as StandIn, fields(modes).availableModes, 'id', fields(modes).currentModeId),
  },
  {
    ...{ id: MODEL_OPTION, category: 'model', name: 'Model' },
    made: ({ models }) => standIn(STAND_INS[1] as StandIn, fields(models).availableModels, 'modelId', fields(models).currentModelId),
  },
];

function standIn({ id, category, name }: StandIn, offered: unknown, key: string, current: unknown): Option[] {
  const choices = list(offered).map((one): Choice => {
    const { [key]: value, name: shown, description } = fields(one);
    return { value: String(value), name: text(shown) ?? String(value), description: text(description) };
  });
  return choices.length === 0 ? [] : [{ type: 'select', id, name, category, value: text(current) ?? '', choices }];
}

/** The options after a response or an update. It may list only some of them: the others stay as they were `before`. */
export function optionsOf(answer: Fields, before: readonly Option[] = []): readonly Option[] {
  const isStandIn = ({ id }: Option) => STAND_INS.some((one) => one.id === id);
  const own = Array.isArray(answer.configOptions) ? answer.configOptions.flatMap(optionOf) : before.filter((option) => !isStandIn(option));
  const others = STAND_INS.flatMap(({ id, category, made }) => {
    if (own.some((option) => option.category === category)) return [];
    const fresh = made(answer);
    return fresh.length > 0 ? fresh : before.filter((option) => option.id === id);
  });
  return [...own, ...others];
}

function optionOf(value: unknown): Option[] {
  const { type, id, name, category, currentValue, options } = fields(value);
  const about = { id: String(id), name: text(name) ?? String(id), category: text(category) };
  if (type === 'boolean') return [{ type: 'boolean', ...about, value: currentValue === true }];
  if (type !== undefined && type !== 'select') return [];
  // Choices may be grouped.
  const all = list(options).flatMap((one) => (Array.isArray(fields(one).options) ? list(fields(one).options) : [one]));
  const choices = all.map((one): Choice => {
    const choice = fields(one);
    return {
      value: String(choice.value),
      name: text(choice.name) ?? String(choice.value),
      description: text(choice.description),
    };
  });
  return [{ type: 'select', ...about, value: String(currentValue), choices }];
}

/** The session's agent, if the response or update names it. */
export function agentIn({ configOptions }: Fields): string | undefined {
  const option = list(configOptions)
    .map(fields)
    .find(({ category }) => category === '_agent');
  return text(option?.currentValue);
}
