// The effects that the program table states for a command, with every path where it really is.
import path from 'node:path';
import type { Effect, FileEffect, Meaning } from '../../../src/policy/commands/effect.ts';
import { canonicalPath } from '../../../src/workspace/canonical.ts';
import { HOME, PROJECT } from './template.ts';

export type FilePrediction = {
  readonly kind: FileEffect['kind'];
  readonly path: string;
  readonly written: string;
  readonly effect: FileEffect;
};

export type Predicted =
  | FilePrediction
  | { readonly kind: 'run'; readonly program: string }
  | { readonly kind: 'project' | 'environment' }
  | { readonly kind: 'connect'; readonly host: string | undefined };

export function predictionsOf(meaning: Meaning & { isUnderstood: true }, cwd: string): Predicted[] {
  return meaning.effects.flatMap((effect) => predictionOf(effect, cwd));
}

function predictionOf(effect: Effect, cwd: string): Predicted[] {
  switch (effect.kind) {
    case 'run':
      return [{ kind: 'run', program: effect.program }];
    case 'project':
    case 'environment':
      return [{ kind: effect.kind }];
    case 'connect':
      return [{ kind: 'connect', host: effect.host }];
    case 'command':
      return [{ kind: 'run', program: effect.argv[0] ?? '' }, ...(effect.meaning.isUnderstood ? predictionsOf(effect.meaning, cwd) : [])];
    default: {
      const written = writtenPath(effect, cwd);
      return [{ kind: effect.kind, path: canonical(written), written: path.resolve(written), effect }];
    }
  }
}

function writtenPath({ path: file, entered }: FileEffect, cwd: string): string {
  if (/^\$repository(\/|$)/.test(file)) return `${PROJECT}/${file.slice('$repository/'.length)}`;
  return [...entered, file].reduce(
    (base, next) => (next.startsWith('~/') ? `${HOME}${next.slice(1)}` : next.startsWith('/') ? next : `${base}/${next}`),
    cwd,
  );
}

function canonical(file: string): string {
  try {
    return canonicalPath(file);
  } catch {
    return path.resolve(file);
  }
}
