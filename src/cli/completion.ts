// `switchboard completion SHELL`: prints a small script that asks switchboard for each word, so that it never becomes outdated.
import type { Command, Option } from 'commander';
import { bundledCatalogue } from '../app/package-files.ts';
import { PRESETS } from '../app/read-policy.ts';
import { nearestOf } from '../policy/format/nearest.ts';
import { allLayers } from '../review/layers.ts';
import { EDITORS } from '../setup/editors.ts';
import { SNIPPETS } from '../setup/snippets.ts';
import { CommandFailure } from './failure.ts';
import { resolveConfig, surroundings } from './resolve-config.ts';

/** The hidden command that the scripts call: the words so far, the last one unfinished. */
export const COMPLETE = '__complete';

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# switchboard completion bash >> ~/.bashrc, or: source <(switchboard completion bash)
_switchboard() {
  local IFS=$'\\n'
  COMPREPLY=($(switchboard ${COMPLETE} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [ "\${#COMPREPLY[@]}" -eq 0 ] && compopt -o default 2>/dev/null
  return 0
}
complete -F _switchboard switchboard
`,
  zsh: `#compdef switchboard
# switchboard completion zsh > "\${fpath[1]}/_switchboard", or: source <(switchboard completion zsh)
_switchboard() {
  local -a found
  found=("\${(@f)$(switchboard ${COMPLETE} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -- "\${found[@]}"; else _files; fi
}
if [[ "\${funcstack[1]}" == _switchboard ]]; then _switchboard "$@"; else
  (( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit; }
  compdef _switchboard switchboard
fi
`,
  fish: `# switchboard completion fish > ~/.config/fish/completions/switchboard.fish
function __switchboard_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (switchboard ${COMPLETE} -- $words[2..-1] 2>/dev/null)
  if set -q found[1]
    string join \\n -- $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c switchboard --no-files -a '(__switchboard_complete)'
`,
};

export const SHELLS = Object.keys(SCRIPTS);

export function completion(shell: string): number {
  const script = SCRIPTS[shell];
  if (script === undefined) throw new CommandFailure(2, `no completion for "${shell}"`, nearestOf(shell, SHELLS, 'shells'));
  process.stdout.write(script);
  return 0;
}

/** Prints the completions of the last word, one per line; nothing where the shell should complete files. */
export async function complete(program: Command, words: readonly string[]): Promise<number> {
  const before = words.slice(0, -1);
  const typed = words.at(-1) ?? '';
  const found = await candidates(program, before, typed);
  for (const word of found.filter((one) => one.startsWith(typed))) process.stdout.write(`${word}\n`);
  return 0;
}

async function candidates(program: Command, before: readonly string[], typed: string): Promise<readonly string[]> {
  let command = program;
  const operands: string[] = [];
  for (let index = 0; index < before.length; index++) {
    const word = before[index] ?? '';
    const option = optionOf(command, word);
    const inner = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (option) index += takesWord(option) ? 1 : 0;
    else if (inner && operands.length === 0) command = inner;
    else if (!word.startsWith('-')) operands.push(word);
  }
  const last = optionOf(command, before.at(-1) ?? '');
  if (last && takesWord(last)) return last.argChoices ?? (await valuesOf(last.attributeName()));
  if (typed.startsWith('-')) return [...visibleOptions(command), '--help'];
  const commands = command.commands.filter((one) => !isHidden(one)).map((one) => one.name());
  if (commands.length > 0) return operands.length === 0 ? commands : [];
  return operands.length === 0 ? operandsOf(pathOf(command)) : [];
}

/** The names that fit where a command expects a name. */
async function operandsOf(words: string): Promise<readonly string[]> {
  if (words === 'connect' || words === 'disconnect') return EDITORS.map(({ id }) => id);
  if (words === 'agents add') return bundledCatalogue().map(({ id }) => id);
  if (words === 'agents test' || words === 'agents remove' || words === 'agents update' || words === 'agents rollback' || words === 'auth')
    return agentNames();
  if (words === 'completion') return SHELLS;
  if (/^changes (?:list|show|apply|drop)$/.test(words)) return sessionsWithChanges();
  if (/^sessions (?:show|attach|queue|export|delete)$/.test(words)) return (await import('./records/sessions.ts')).recentSessions();
  return words === 'policy check' || words === 'policy test' ? PRESETS : [];
}

async function valuesOf(option: string): Promise<readonly string[]> {
  if (option === 'agent') return agentNames();
  if (option === 'policy') return PRESETS;
  if (option === 'from') return EDITORS.map(({ id }) => id);
  return option === 'print' ? Object.keys(SNIPPETS) : [];
}

/** Completion must not report an invalid configuration. */
async function agentNames(): Promise<readonly string[]> {
  return resolveConfig({ isOnlyShown: true }, () => {}).then(
    ({ config }) => config.agents.map(({ name }) => name),
    () => [],
  );
}

const sessionsWithChanges = (): readonly string[] => allLayers(surroundings({}).stateDir).map(({ id, sessionId }) => sessionId ?? id);

const optionOf = (command: Command, word: string): Option | undefined =>
  command.options.find(({ long, short }) => word !== '' && (long === word || short === word));
const takesWord = (option: Option): boolean => option.required || option.optional;
const isHidden = (command: Command): boolean => command.name().startsWith('__');
const visibleOptions = (command: Command): string[] => command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? []);

function pathOf(command: Command): string {
  return command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
