// What is wrong with a configuration, where, and how it reads. Values are never part of it: they may be secrets.

export type Problem = {
  readonly file: string;
  /** 1-based, as editors count. */
  readonly line: number;
  readonly column: number;
  /** Where in the structure: `agent_servers.claude.args[0]`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
};

/** Everything wrong with the configuration at once, so that one round of corrections is enough. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(renderProblem).join('\n'));
    this.problems = problems;
  }
}

/** `file:line:column: message; hint`, which terminals and editors turn into a link. */
export function renderProblem({ file, line, column, message, hint }: Problem): string {
  return printable(`${file}:${line}:${column}: ${message}${hint === undefined ? '' : `; ${hint}`}`);
}

/** A problem with a file as a whole, such as its absence. */
export function fileProblem(file: string, message: string): Problem {
  return { file, line: 1, column: 1, path: '', message };
}

/** File names and keys can come with a repository, and would otherwise be able to write control sequences to the user's terminal. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
