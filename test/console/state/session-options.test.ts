// The options of a session: modes and models stay, whatever a response or an update lists.
import { describe, expect, test } from 'vitest';
import { eventOf } from '../../../src/console/state/read-update.ts';
import { optionsOf } from '../../../src/console/state/session-options.ts';

const modes = { currentModeId: 'ask', availableModes: [{ id: 'ask', name: 'Ask' }, { id: 'act' }] };
const models = { currentModelId: 's', availableModels: [{ modelId: 's', name: 'Small', description: 'quick' }] };
const option = (id: string, category?: string) => ({
  type: 'select',
  id,
  name: id,
  category,
  currentValue: 'a',
  options: [{ value: 'a' }],
});
const ids = (answer: object, before = optionsOf({ modes, models, configOptions: [option('effort')] })) =>
  optionsOf({ ...answer }, before).map(({ id }) => id);

describe('options', () => {
  test('modes and models of a response are options', () => {
    expect(optionsOf({ modes, models })).toMatchObject([
      { id: '$mode', category: 'mode', value: 'ask', choices: [{ name: 'Ask' }, { name: 'act' }] },
      { id: '$model', category: 'model', value: 's', choices: [{ value: 's', name: 'Small', description: 'quick' }] },
    ]);
  });

  test.each<[string, object, readonly string[]]>([
    ['a list of options', { configOptions: [option('effort')] }, ['effort', '$mode', '$model']],
    ['an empty list', { configOptions: [] }, ['$mode', '$model']],
    ['modes alone', { modes }, ['effort', '$mode', '$model']],
    ['nothing', {}, ['effort', '$mode', '$model']],
    ['an option that represents the mode', { configOptions: [option('m', 'mode')] }, ['m', '$model']],
    ['no modes at all', { modes: null, configOptions: [] }, ['$mode', '$model']],
  ])('after %s, the others stay', (_, answer, expected) => {
    expect(ids(answer)).toEqual(expected);
  });

  test.each<[object, object]>([
    [
      { sessionUpdate: 'current_mode_update', currentModeId: 'act' },
      { e: 'option', category: 'mode', value: 'act' },
    ],
    [
      { sessionUpdate: 'current_mode_update', current_mode_id: 'act' },
      { e: 'option', category: 'mode', value: 'act' },
    ],
    [
      { sessionUpdate: 'current_model_update', currentModelId: 'l' },
      { e: 'option', category: 'model', value: 'l' },
    ],
    [{ sessionUpdate: 'current_mode_update' }, { e: 'unknown', name: 'current_mode_update' }],
  ])('%j', (update, expected) => {
    expect(eventOf({ ...update })).toMatchObject(expected);
  });
});
