// The one place every call of a tool of ours or behind a bridge passes first. Whoever decides is not in here; that nothing gets by undecided is.
import type { Effect, ToolArgs } from './tool.ts';

export type ToolRequest = {
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd: string | undefined;
  readonly roots: readonly string[];
  /** `switchboard` for our own tools and those the user defined, else the configured server behind the tool. */
  readonly server: string;
  /** The name without the server's. */
  readonly tool: string;
  readonly effect: Effect;
  readonly args: ToolArgs;
};

/** `judged` is where the path of a file led when it was decided about: what is opened must be that. */
export type GateVerdict = { readonly allow: true; readonly evaluatedPath?: string } | { readonly allow: false; readonly reason: string };

/** Decides about one call. */
export type ToolGate = (request: ToolRequest, signal: AbortSignal) => Promise<GateVerdict>;

/** An error while deciding, or anything but a clear yes, is a no. */
export async function passGate(decide: () => Promise<GateVerdict>, signal: AbortSignal): Promise<GateVerdict> {
  try {
    const verdict = await decide();
    if (signal.aborted) return { allow: false, reason: 'the call was cancelled before it was decided' };
    if (verdict.allow === true) return verdict;
    return { allow: false, reason: verdict.reason };
  } catch {
    return { allow: false, reason: 'whether it may run could not be decided, so it may not' };
  }
}
