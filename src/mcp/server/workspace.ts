// Files and terminals of a session, in the words of ACP's own fs/* and terminal/* methods. The editor fills what it offers (unsaved buffers
// are the point of asking it); our own workspace fills the rest. A member that is missing is not there, and its tools are not listed.

export type ExitStatus = { readonly exitCode?: number | null | undefined; readonly signal?: string | null | undefined };
export type TerminalOutput = { readonly output: string; readonly truncated: boolean; readonly exitStatus?: ExitStatus | null | undefined };
export type DirectoryEntry = { readonly name: string; readonly kind: 'file' | 'directory' | 'other'; readonly bytes?: number | undefined };
export type SearchHit = { readonly path: string; readonly line?: number | undefined; readonly text?: string | undefined };

/** Paths are absolute; `judged` is where they led when the call was decided about. Everything rejects with an Error whose message may be shown to the agent. */
export type Workspace = {
  readTextFile?(
    params: {
      readonly path: string;
      readonly line?: number | undefined;
      readonly limit?: number | undefined;
      readonly judged?: string | undefined;
    },
    signal: AbortSignal,
  ): Promise<{ readonly content: string }>;
  writeTextFile?(
    params: { readonly path: string; readonly content: string; readonly judged?: string | undefined },
    signal: AbortSignal,
  ): Promise<void>;
  listDirectory?(
    params: { readonly path: string },
    signal: AbortSignal,
  ): Promise<{ readonly entries: readonly DirectoryEntry[]; readonly truncated: boolean }>;
  /** `name` is a glob over paths relative to `path`; `text` is looked for inside the files. At least one is given. */
  searchFiles?(
    params: { readonly path: string; readonly name?: string | undefined; readonly text?: string | undefined; readonly limit: number },
    signal: AbortSignal,
  ): Promise<{ readonly hits: readonly SearchHit[]; readonly truncated: boolean }>;
  /** `terminal/*`; all of it or nothing. */
  readonly terminals?: Terminals;
};

export type Terminals = {
  create(
    params: { readonly command: string; readonly args: readonly string[]; readonly cwd: string; readonly outputByteLimit: number },
    signal: AbortSignal,
  ): Promise<{ readonly terminalId: string }>;
  output(params: { readonly terminalId: string }): Promise<TerminalOutput>;
  waitForExit(params: { readonly terminalId: string }, signal: AbortSignal): Promise<ExitStatus>;
  kill(params: { readonly terminalId: string }): Promise<void>;
  release(params: { readonly terminalId: string }): Promise<void>;
};
