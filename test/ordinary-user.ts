// Root ignores file modes. Tests of modes drop root's privileges first.
const isRoot = (): boolean => process.getuid?.() === 0;
const NOBODY = 65_534;

/** Applies to the rest of the test file, which has its own process. */
export function becomeOrdinaryUser(): void {
  if (!isRoot()) return;
  process.setgroups?.([NOBODY]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}

/** A command that respects file modes: it stays root without the capabilities to override them. Linux only. */
export function boundByModes(command: readonly string[]): readonly string[] {
  const caps = '-dac_override,-dac_read_search';
  return isRoot() ? ['setpriv', '--inh-caps', caps, '--bounding-set', caps, ...command] : command;
}
