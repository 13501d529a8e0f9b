// A tool the user defined: a program whose arguments contain placeholders for a call's arguments. Never a shell: an argument stays one
// argument.

import { agentName } from '../server/portable-tool.ts';
import { type HostTool, type ToolArgs, ToolFailure, type ToolOutcome } from '../server/tool.ts';
import type { CommandSettings } from '../settings.ts';
import { runProgram } from './run-program.ts';

const OUTPUT_BYTES = 256 * 1024;

export function commandTool(settings: CommandSettings, environment: () => Readonly<Record<string, string>>): HostTool {
  const { name, description, inputSchema, command, timeoutMs } = settings;
  return {
    ...agentName(name),
    title: name,
    description,
    inputSchema,
    effect: 'execute',
    needs: [],
    timeoutMs,
    server: 'switchboard',
    async run(args, { host, signal }): Promise<ToolOutcome> {
      const cwd = settings.cwd ?? host.cwd;
      if (cwd === undefined) throw new ToolFailure('this session has no directory to run it in');
      const argv = settings.args.flatMap((arg) => filledIn(arg, args));
      const env = environment();
      const contained = host.contain?.([command, ...argv], env, cwd);
      if (contained && 'why' in contained) throw new ToolFailure(`"${command}" could not be started: ${contained.why}`);
      const [first = '', ...rest] = contained?.argv ?? [command, ...argv];
      const program = {
        command: first,
        args: rest,
        cwd,
        env: contained?.env ?? env,
        outputBytes: OUTPUT_BYTES,
        sandbox: contained?.sandbox,
      };
      const { output, truncated, exitCode, signal: by } = await runProgram(program, signal);
      const how = by ? `[ended by ${by}]` : `[exit code ${exitCode}]`;
      const shown = `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}${truncated ? '[the rest is cut off]\n' : ''}`;
      if (exitCode === 0) return { content: [{ type: 'text', text: shown.trimEnd() === '' ? how : shown }] };
      return { content: [{ type: 'text', text: `${shown}${how}` }], isError: true };
    },
  };
}

const WHOLE = /^\{([A-Za-z_]\w*)\}$/;

/** A placeholder that is a whole argument becomes one argument, one for each element of a list, or none if no value was given. */
export function filledIn(arg: string, args: ToolArgs): string[] {
  const whole = WHOLE.exec(arg)?.[1];
  if (whole !== undefined) {
    const value = args[whole];
    if (value === undefined || value === null) return [];
    return Array.isArray(value) ? value.map(argumentText) : [argumentText(value)];
  }
  return [arg.replace(/\{([A-Za-z_]\w*)\}/g, (_, name: string) => argumentText(args[name] ?? ''))];
}

function argumentText(value: unknown): string {
  const content = typeof value === 'string' ? value : JSON.stringify(value);
  if (content.includes('\0')) throw new ToolFailure('an argument contains a NUL character, which no program accepts');
  return content;
}
