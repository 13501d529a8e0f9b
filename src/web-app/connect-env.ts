// Which environment variables a page may give to an agent. A variable can make a program load code or talk to another server, and no list of
// those is complete, so a page sets only credentials, models and the like, and what the agent's own settings name.
import type { AgentSpec } from '../agents/defaults.ts';
import { refusals } from './refusal.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Names of keys, tokens and models, and settings of language and logs. */
const HARMLESS =
  /^(?:(?:[A-Z0-9]+_)*(?:KEY|TOKEN|MODEL)|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR|LOG_LEVEL|RUST_LOG|RUST_BACKTRACE)$/i;

/** Also where the settings name them: loaders, options of runtimes, start-up files, search paths, programs that others start. */
const LOADS_CODE =
  /^(?:LD_\w*|DYLD_\w*|NODE_\w*|NPM_\w*|PYTHON\w*|PERL\w*|RUBY\w*|BUN_\w*|DENO_\w*|LUA_\w*|GEM_\w*|GIT_\w*|SSH_\w*|JAVA_\w*|_JAVA_\w*|JDK_\w*|CLASSPATH|DOTNET_\w*|COR_\w*|CORECLR_\w*|PHP\w*|R_\w*|JULIA_\w*|GCONV_PATH|LOCPATH|GLIBC_\w*|MALLOC_\w*|BASH_\w*|ENV|SHELL|SHELLOPTS|BASHOPTS|PS4|IFS|PROMPT_COMMAND|ZDOTDIR|PATH|PATHEXT|COMSPEC|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|XDG_\w*|TMPDIR|TMP|TEMP|EDITOR|VISUAL|PAGER|BROWSER|LESSOPEN|LESSCLOSE|MANPAGER|SWITCHBOARD_\w*|ACP_SWITCHBOARD\w*)$/i;

const fold = (name: string): string => name.toUpperCase();

/** Throws a refusal that names the variable. `spec` is undefined for a command that is not configured. */
export function checkEnv(env: Readonly<Record<string, string>>, spec: AgentSpec | undefined): void {
  const inherited = Array.isArray(spec?.inheritEnv) ? (spec.inheritEnv as readonly string[]) : [];
  const listed = new Set([...Object.keys(spec?.env ?? {}), ...inherited].map(fold));
  for (const [name, value] of Object.entries(env)) {
    if (!NAME.test(name)) throw refusals.envRefused(name, 'it is not the name of a variable');
    if (value.includes('\0')) throw refusals.envRefused(name, 'its value has a NUL character');
    if (LOADS_CODE.test(name)) throw refusals.envRefused(name, 'it can make programs load code');
    if (!HARMLESS.test(name) && !listed.has(fold(name)))
      throw refusals.envRefused(
        name,
        'a page sets only keys, tokens, models and variables of language and logs; the owner of the daemon can allow it by naming it in env of the agent',
      );
  }
}
