// Variables of the environment that change how a program prints, not what it does.

const TAME =
  /^(CI|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|TERM|COLUMNS|LINES|LANG|LANGUAGE|LC_\w+|TZ|RUST_BACKTRACE|PYTHONUNBUFFERED)$/;
/** Locales, time zones and terminals with a slash are files. */
const TAME_VALUE = /^[\w.@,+-]*$/;

export const isTameVariable = (name: string): boolean => TAME.test(name);

/** `CI=1`, `GIT_PAGER=cat`: in front of a command. */
export function isTameAssignment(text: string): boolean {
  const [, name = '', value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  if (/^(GIT_)?PAGER$/.test(name)) return value === 'cat';
  if (name === 'NODE_ENV') return /^(test|development|production)$/.test(value);
  return TAME.test(name) && TAME_VALUE.test(value);
}
