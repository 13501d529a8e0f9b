// Places where an answer or an update lists modes, or options that decide whether the agent asks. Agents have two forms of modes: `modes`, and
// options of the category `mode`; options may be lists of values or switches.
import type { Span } from '../../../wire/frame.ts';
import { elements, member, memberAt, stringAt } from '../../../wire/json-path.ts';

export type Choice = {
  /** The mode's id, or the option's value as text. */
  readonly value: string;
  readonly name: string | undefined;
  readonly description: string | undefined;
  /** Its place in the list; undefined for a switch. */
  readonly entry: Span | undefined;
};

/** One such place: which choice is current, which there are, and how another is set. */
export type ModeList = {
  readonly current: string | undefined;
  readonly currentAt: Span | undefined;
  readonly choices: readonly Choice[];
  /** The option to set; undefined for session/set_mode. */
  readonly configId: string | undefined;
  readonly category: string | undefined;
  readonly isMode: boolean;
  /** A switch has no list of values. */
  readonly isSwitch: boolean;
  /** What the agent says about the option as a whole. */
  readonly about: readonly (string | undefined)[];
  /** The arrays that hold the choices. */
  readonly lists: readonly Span[];
  /** The option's own place. */
  readonly option: Span | undefined;
};

/** In the object at `holder`: a result, or an update. */
export function modeListsIn(bytes: Buffer, holder: Span | undefined): readonly ModeList[] {
  if (!holder || bytes[holder.start] !== 0x7b) return [];
  const modes = memberAt(bytes, holder, 'modes');
  const options = memberAt(bytes, holder, 'configOptions');
  return [
    ...(modes ? [modeList(bytes, modes)] : []),
    ...(options ? elements(bytes, options.start) : []).flatMap((option) =>
      bytes[option.start] === 0x7b ? [optionList(bytes, option)] : [],
    ),
  ];
}

function modeList(bytes: Buffer, modes: Span): ModeList {
  const list = memberAt(bytes, modes, 'availableModes');
  const currentAt = memberAt(bytes, modes, 'currentModeId');
  return {
    ...{ configId: undefined, category: 'mode', isMode: true, isSwitch: false, about: [], option: undefined },
    current: stringAt(bytes, currentAt),
    currentAt,
    choices: list ? choicesIn(bytes, list, 'id') : [],
    lists: list ? [list] : [],
  };
}

function optionList(bytes: Buffer, option: Span): ModeList {
  const text = (key: string) => stringAt(bytes, member(bytes, option.start, key));
  const configId = text('id');
  const currentAt = member(bytes, option.start, 'currentValue');
  const values = memberAt(bytes, option, 'options');
  const groups = values ? elements(bytes, values.start).flatMap((entry) => memberAt(bytes, entry, 'options') ?? []) : [];
  const lists = groups.length > 0 ? groups : values ? [values] : [];
  const isSwitch = text('type') === 'boolean';
  const about = [text('name'), text('description')];
  const words = { name: about[0], description: about[1], entry: undefined };
  return {
    ...{ configId, category: text('category'), isSwitch, about, lists, option, currentAt },
    isMode: text('category') === 'mode' || configId === 'mode',
    current: stringAt(bytes, currentAt) ?? (currentAt && isSwitch ? bytes.toString('utf8', currentAt.start, currentAt.end) : undefined),
    choices: isSwitch
      ? [
          { ...words, value: 'true' },
          { value: 'false', name: undefined, description: undefined, entry: undefined },
        ]
      : lists.flatMap((list) => choicesIn(bytes, list, 'value')),
  };
}

const choicesIn = (bytes: Buffer, list: Span, key: string): Choice[] =>
  elements(bytes, list.start).map((entry) => ({
    value: stringAt(bytes, memberAt(bytes, entry, key)) ?? '',
    name: stringAt(bytes, memberAt(bytes, entry, 'name')),
    description: stringAt(bytes, memberAt(bytes, entry, 'description')),
    entry,
  }));
