// A scene is what one command does with a turn.
import type { Turn } from '../turn.ts';

type SceneInput = {
  /** What followed the command, or the whole prompt when there was none. */
  readonly rest: string;
  readonly attachments: readonly string[];
};

export type Scene = (turn: Turn, input: SceneInput) => Promise<void>;
