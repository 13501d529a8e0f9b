// Root reads and writes everything, whatever the modes of files say. Tests of those modes give that up first.
const isRoot = (): boolean => process.getuid?.() === 0;
const NOBODY = 65_534;

/** For the rest of the test file: each has a process of its own. */
export function becomeOrdinaryUser(): void {
  if (!isRoot()) return;
  process.setgroups?.([NOBODY]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}

/** A command that the modes of files bind: it stays root where we are, without the capabilities to override them. Linux only. */
export function boundByModes(command: readonly string[]): readonly string[] {
  const caps = '-dac_override,-dac_read_search';
  return isRoot() ? ['setpriv', '--inh-caps', caps, '--bounding-set', caps, ...command] : command;
}
