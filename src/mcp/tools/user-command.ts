// A tool that the user has defined: a program, and where a call's arguments stand among its own. Never a shell: an argument stays one argument.

import { type HostTool, type ToolArgs, ToolFailure, type ToolOutcome } from '../server/tool.ts';
import type { CommandSettings } from '../settings.ts';
import { runProgram } from './run-program.ts';

const OUTPUT_BYTES = 256 * 1024;

export function commandTool(settings: CommandSettings): HostTool {
  const { name, description, inputSchema, command, timeoutMs } = settings;
  return {
    name,
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
      const { output, truncated, exitCode, signal: by } = await runProgram({ command, args: argv, cwd, outputBytes: OUTPUT_BYTES }, signal);
      const how = by ? `[ended by ${by}]` : `[exit code ${exitCode}]`;
      const words = `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}${truncated ? '[the rest is cut off]\n' : ''}`;
      if (exitCode === 0) return { content: [{ type: 'text', text: words.trimEnd() === '' ? how : words }] };
      return { content: [{ type: 'text', text: `${words}${how}` }], isError: true };
    },
  };
}

const WHOLE = /^\{([A-Za-z_]\w*)\}$/;

/** A placeholder that stands alone becomes one argument, or as many as a list has, or none if nothing was given for it. */
export function filledIn(arg: string, args: ToolArgs): string[] {
  const whole = WHOLE.exec(arg)?.[1];
  if (whole !== undefined) {
    const value = args[whole];
    if (value === undefined || value === null) return [];
    return Array.isArray(value) ? value.map(said) : [said(value)];
  }
  return [arg.replace(/\{([A-Za-z_]\w*)\}/g, (_, name: string) => said(args[name] ?? ''))];
}

function said(value: unknown): string {
  const words = typeof value === 'string' ? value : JSON.stringify(value);
  if (words.includes('\0')) throw new ToolFailure('an argument holds a NUL character, which no program can be given');
  return words;
}
