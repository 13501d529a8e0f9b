// Wrong program tables, to measure the check: would it notice them?
import type { Options, Program, Subcommand, WordType } from '../../../src/policy/commands/program.ts';
import { createTable, type ProgramTable } from '../../../src/policy/commands/table/lookup.ts';
import { isEffectful, type Leaf, type Spelled } from './generate.ts';

export type Mutant = {
  readonly id: string;
  /** `type`: an effect becomes a text. `value`: a flag takes a value. `flag`: an option loses its value. */
  readonly kind: 'type' | 'value' | 'flag';
  readonly option: Spelled | undefined;
  /** The options of which one must be given for the operands that it changes. */
  readonly needs?: readonly string[] | undefined;
  readonly table: ProgramTable;
};

const isHarmless = (type: WordType): boolean => /^(?:none|number|text|date|pattern|revision|one:.*|unclear:.*)$/.test(type);

/** The mutants of a command: of its own options, and of its operands. */
export function mutantsOf(leaf: Leaf): Mutant[] {
  const { entry, path, options } = leaf;
  const name = path.join(' ');
  const make = (kind: Mutant['kind'], what: string, option: Spelled | undefined, change: (data: Subcommand) => Subcommand): Mutant => ({
    id: `${name} ${what}`,
    kind,
    option,
    table: tableWith(leaf, change),
  });
  const own = options.filter(
    (option) => keyOf(entry.data.options, option) !== undefined && !option.types.some((type) => type.startsWith('unclear:')),
  );
  const ofOptions = own.flatMap((option): Mutant[] => {
    const key = keyOf(entry.data.options, option) as string;
    const isFlag = option.takes === 'nothing';
    const types = entry.data.options?.[key];
    const asText = isFlag ? 'none' : Array.isArray(types) ? types.map(() => 'text' as const) : 'text';
    const changed =
      (to: string, type: Options[string]) =>
      (data: Subcommand): Subcommand => ({ ...data, options: { ...without(data.options, key), [to]: type } });
    const bare = key.replace(/\[=\]|=/g, '');
    const valued = bare
      .split(' ')
      .map((word) => `${word}=`)
      .join(' ');
    return [
      ...(isEffectful(option) && option.types[0] !== 'command'
        ? [make('type', `${option.first}: ${option.types.join(' ')} is text`, option, changed(key, asText))]
        : []),
      ...(option.takes === 'value' && option.types.length === 1
        ? [make('flag', `${option.first} takes no value`, option, changed(bare, 'none'))]
        : []),
      ...(isFlag && entry.parse !== 'find' ? [make('value', `${option.first} takes a value`, option, changed(valued, 'text'))] : []),
    ];
  });
  const ofOperands = (entry.data.operands ?? []).flatMap((form, index) =>
    (['first', 'rest', 'last', 'dashed'] as const).flatMap((part): Mutant[] => {
      const types = form[part];
      const list = types === undefined ? [] : Array.isArray(types) ? (types as readonly WordType[]) : [types as WordType];
      return list.flatMap((type, at) => {
        if (isHarmless(type) || type === 'command') return [];
        const mutated = Array.isArray(types) ? list.map((one, other) => (other === at ? 'text' : one)) : 'text';
        return [
          {
            ...make('type', `operands ${index} ${part} ${at}: ${type} is text`, undefined, (data) => ({
              ...data,
              operands: (data.operands ?? []).map((one, other) => (other === index ? { ...one, [part]: mutated } : one)),
            })),
            needs: form.if,
          },
        ];
      });
    }),
  );
  return [...ofOptions, ...ofOperands];
}

const keyOf = (options: Options | undefined, { first }: Spelled): string | undefined =>
  Object.keys(options ?? {}).find((key) => key.split(' ')[0]?.replace(/\[=\]$|=$/, '') === first);

function without(options: Options | undefined, key: string): Options {
  const { [key]: _, ...rest } = options ?? {};
  return rest;
}

/** A table of this one program, with the command changed. */
function tableWith({ entry }: Leaf, change: (data: Subcommand) => Subcommand): ProgramTable {
  let data: Program | Subcommand = change(entry.data) as Program | Subcommand;
  let { name, parent } = entry;
  while (parent !== undefined) {
    data = { ...parent.data, commands: { ...parent.data.commands, [name]: data } } as Program | Subcommand;
    ({ name, parent } = parent);
  }
  return createTable([data as Program]);
}
