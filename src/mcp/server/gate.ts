// Every call of a host tool or a bridged tool passes this gate. The decision is made elsewhere; the gate ensures that there is one.
import type { Effect, ToolArgs } from './tool.ts';

export type ToolRequest = {
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd: string | undefined;
  readonly roots: readonly string[];
  /** `switchboard` for built-in tools and the user's own, else the configured server of the tool. */
  readonly server: string;
  /** The tool's name without the server's. */
  readonly tool: string;
  readonly effect: Effect;
  readonly args: ToolArgs;
};

/** `evaluatedPath` is the real path of a file at the time of the decision; the opened file must be that one. */
export type GateVerdict = { readonly allow: true; readonly evaluatedPath?: string } | { readonly allow: false; readonly reason: string };

export type ToolGate = (request: ToolRequest, signal: AbortSignal) => Promise<GateVerdict>;

/** An error, or anything but a clear allow, is a denial. */
export async function passGate(decide: () => Promise<GateVerdict>, signal: AbortSignal): Promise<GateVerdict> {
  try {
    const verdict = await decide();
    if (signal.aborted) return { allow: false, reason: 'the call was cancelled before a decision' };
    if (verdict.allow === true) return verdict;
    return { allow: false, reason: verdict.reason };
  } catch {
    return { allow: false, reason: 'the decision failed, so the call may not run' };
  }
}
