// A scenario is what one command does in a turn.
import type { Turn } from '../turn.ts';

type ScenarioInput = {
  /** The text after the command, or the whole prompt if there is none. */
  readonly rest: string;
  readonly attachments: readonly string[];
};

export type Scenario = (turn: Turn, input: ScenarioInput) => Promise<void>;

/** A scenario could not do its work, through no fault of the program. The user sees the message and the turn ends normally. */
export class ScenarioFailure extends Error {
  override name = 'SceneFailure';
}
