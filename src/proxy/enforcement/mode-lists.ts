// Where an answer or an update speaks of modes, in either of the two ways agents have: `modes`, and options of the category `mode`.
import type { Span } from '../../wire/frame.ts';
import { elements, member, memberAt, stringAt } from '../../wire/json-path.ts';

/** One such place: which mode is current, which there are, and how another is set. */
export type ModeList = {
  readonly current: string | undefined;
  readonly currentAt: Span | undefined;
  readonly modes: readonly string[];
  /** The option to set; undefined for session/set_mode. */
  readonly configId: string | undefined;
  /** The arrays that list modes, and the key of each entry that names one. */
  readonly lists: readonly { readonly list: Span; readonly key: string }[];
};

/** In the object at `holder`: a result, or an update. */
export function modeListsIn(bytes: Buffer, holder: Span | undefined): readonly ModeList[] {
  if (!holder || bytes[holder.start] !== 0x7b) return [];
  const modes = memberAt(bytes, holder, 'modes');
  const options = memberAt(bytes, holder, 'configOptions');
  return [
    ...(modes ? [listOf(bytes, undefined, memberAt(bytes, modes, 'currentModeId'), entriesIn(bytes, modes, 'availableModes', 'id'))] : []),
    ...(options ? elements(bytes, options.start) : []).flatMap((option) =>
      isModeOption(bytes, option) ? [optionList(bytes, option)] : [],
    ),
  ];
}

export const namesIn = (bytes: Buffer, { list, key }: ModeList['lists'][number]): { readonly entry: Span; readonly name: string }[] =>
  elements(bytes, list.start).map((entry) => ({ entry, name: stringAt(bytes, memberAt(bytes, entry, key)) ?? '' }));

function optionList(bytes: Buffer, option: Span): ModeList {
  const values = memberAt(bytes, option, 'options');
  const groups = values ? elements(bytes, values.start).flatMap((entry) => memberAt(bytes, entry, 'options') ?? []) : [];
  const lists = groups.length > 0 ? groups.map((list) => ({ list, key: 'value' })) : entriesIn(bytes, option, 'options', 'value');
  return listOf(bytes, stringAt(bytes, memberAt(bytes, option, 'id')), memberAt(bytes, option, 'currentValue'), lists);
}

function listOf(bytes: Buffer, configId: string | undefined, currentAt: Span | undefined, lists: ModeList['lists']): ModeList {
  const modes = lists.flatMap((list) => namesIn(bytes, list).map(({ name }) => name));
  return { current: stringAt(bytes, currentAt), currentAt, modes, configId, lists };
}

function entriesIn(bytes: Buffer, holder: Span, field: string, key: string): ModeList['lists'] {
  const list = memberAt(bytes, holder, field);
  return list ? [{ list, key }] : [];
}

function isModeOption(bytes: Buffer, option: Span): boolean {
  const text = (key: string) => stringAt(bytes, member(bytes, option.start, key));
  return text('category') === 'mode' || text('id') === 'mode';
}
