// Colours and columns of a terminal, if there is one.
import { withoutControls } from '../../control-characters.ts';

export type Paint = {
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly cyan: (text: string) => string;
  readonly yellow: (text: string) => string;
  /** Makes agent text safe for this output: on a terminal it may not move the cursor, change colours or hide text. */
  readonly foreign: (text: string) => string;
};

const painted = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`;
const asIs = (text: string) => text;

/** Respects `NO_COLOR`, `TERM=dumb` and output that is not a terminal. */
export function createPaint(isTerminal: boolean, env: NodeJS.ProcessEnv): Paint {
  const foreign = isTerminal ? withoutControls : asIs;
  const hasColours = isTerminal && !env.NO_COLOR && env.TERM !== 'dumb';
  if (!hasColours) return { dim: asIs, bold: asIs, red: asIs, green: asIs, cyan: asIs, yellow: asIs, foreign };
  return { dim: painted(2), bold: painted(1), red: painted(31), green: painted(32), cyan: painted(36), yellow: painted(33), foreign };
}
