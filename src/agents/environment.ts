// The environment that an agent's program inherits from this process. Agents do not get each other's secrets, nor our tokens.

export type Inherited = 'all' | 'minimal' | readonly string[];

/** What a program needs to find its files, its user and its language. */
const MINIMAL =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|COLORTERM|LANG|LC_\w+|TZ|TMPDIR|XDG_\w+|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES|USERPROFILE|USERNAME|HOMEDRIVE|HOMEPATH|TEMP|TMP|NUMBER_OF_PROCESSORS|PROCESSOR_ARCHITECTURE)$/i;

/** Tokens that give access to this program. */
const OUR_TOKEN = /^SWITCHBOARD_(\w+_)?TOKEN$/i;

/** `withheld` are the variables that the configuration uses for other agents and servers. `all` inherits everything but those. */
export function inheritedEnvironment(env: NodeJS.ProcessEnv, inherit: Inherited, withheld: readonly string[]): Record<string, string> {
  // Windows does not distinguish case in the names of variables, so another spelling must not pass.
  const fold = (name: string): string => name.toUpperCase();
  const refused = new Set(withheld.map(fold));
  const named = Array.isArray(inherit) ? new Set(inherit.map(fold)) : undefined;
  const isInherited = (name: string): boolean => {
    if (OUR_TOKEN.test(name)) return false;
    // A name in the list is the user's decision, also for a variable that another agent uses.
    if (named) return named.has(fold(name)) || MINIMAL.test(name);
    return !refused.has(fold(name)) && (inherit === 'all' || MINIMAL.test(name));
  };
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value !== undefined && isInherited(name) ? [[name, value]] : [])),
  );
}
