// What a command does: the effects of its words, and what it does unasked.
import type { WalkModifier } from './program.ts';
import type { Parsed } from './table/parse.ts';

export type FileEffectKind = 'read' | 'names' | 'walk' | 'write' | 'modify' | 'append' | 'delete' | 'move' | 'unpack';

/** Where an effect comes from: only what a word names can be approved by a rule that spells the word out. */
export type Origin = 'operand' | 'option' | 'unasked';

export type FileEffect = {
  readonly kind: FileEffectKind;
  /** As written. `$repository/` stands for the root of git's repository. */
  readonly path: string;
  /** The directories entered before it: `git -C a`, `tar -C a -C b`. */
  readonly entered: readonly string[];
  readonly word: number;
  readonly by: Origin;
  /** The first spelling of the option it comes from. */
  readonly option?: string | undefined;
  readonly walks?: ReadonlySet<WalkModifier>;
  /** Patterns that let a walk see hidden and ignored files: `rg -g`. */
  readonly globs?: readonly string[];
  /** An option asks for hidden files; not what the program does anyway. */
  readonly isWidened?: boolean;
  /** It sees hidden files, by an option or anyway. */
  readonly seesHidden?: boolean;
  /** Patterns for the names of the only files that it reads: `grep --include`. */
  readonly includes?: readonly string[];
  readonly isTracked?: boolean;
  /** It happens only where git finds no repository, or outside of it. */
  readonly isWithoutRepository?: boolean;
  /** The path is a pattern of git's. */
  readonly isPattern?: boolean;
};

export type Effect =
  | FileEffect
  | { readonly kind: 'run'; readonly program: string; readonly word: number; readonly by: Origin }
  /** The project's own code: a script, its tests, its build. */
  | { readonly kind: 'project'; readonly name: string; readonly word: number; readonly by: Origin; readonly isCode: boolean }
  | { readonly kind: 'connect'; readonly host: string | undefined; readonly word: number; readonly by: Origin }
  | { readonly kind: 'environment'; readonly word: number; readonly by: Origin }
  /** Another command that this one starts. */
  | { readonly kind: 'command'; readonly meaning: Meaning; readonly argv: readonly string[]; readonly word: number; readonly by: Origin };

export type Meaning =
  | { readonly isUnderstood: true; readonly parsed: Parsed; readonly effects: readonly Effect[] }
  | { readonly isUnderstood: false; readonly isKnown: boolean; readonly word: string; readonly reason: string; readonly manual?: string };
