// A scene is what one command does with a turn.
import type { Turn } from '../turn.ts';

type SceneInput = {
  /** What followed the command, or the whole prompt when there was none. */
  readonly rest: string;
  readonly attachments: readonly string[];
};

export type Scenario = (turn: Turn, input: SceneInput) => Promise<void>;

/** Something a scene could not do through no fault of the program. Its message is said to the user and the turn ends in peace. */
export class ScenarioFailure extends Error {
  override name = 'SceneFailure';
}
