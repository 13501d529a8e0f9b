// `switchboard config show` and `config schema`: the settings in force, and all possible ones.

import { type LoadedConfig, loadConfig } from '../../config/load.ts';
import { type Setting, settingsOf } from '../../config/origins.ts';
import { configJsonSchema } from '../../config/schema.ts';
import { escapeControls } from '../../control-characters.ts';
import { hideArgs, hideByForm, hideValue } from '../../setup/hide-secrets.ts';
import { notice, printTable } from '../output.ts';
import { printData } from '../policy/output.ts';
import { type ConfigFlags, surroundings } from '../resolve-config.ts';

export type ShowFlags = ConfigFlags & { readonly origin?: boolean; readonly json?: boolean };

export async function configShow(flags: ShowFlags): Promise<number> {
  const loaded = await loadConfig({ ...surroundings(flags), isOnlyShown: true });
  const { files, notices, origin } = loaded;
  const settings = shownSettings(loaded);
  const none =
    origin === 'none' ? ['no configuration found; using the built-in demo agents. To create a configuration, run: switchboard init'] : [];
  if (flags.json) {
    printData({ files, settings: settings.map(({ key, value, origin: from }) => ({ key, value, origin: from })) }, [...notices, ...none]);
    return 0;
  }
  for (const text of [...notices, ...none]) notice(text);
  const rows = settings.map(({ key, value, origin: from }) => {
    const place = from.kind === 'file' ? `${from.file}:${from.line}:${from.column}` : 'default';
    return [key, JSON.stringify(value), ...(flags.origin ? [place] : [])].map(escapeControls);
  });
  printTable(['KEY', 'VALUE', ...(flags.origin ? ['FROM'] : [])], rows);
  return 0;
}

/** All settings in force, without secrets. */
export const shownSettings = ({ layer, documents }: Pick<LoadedConfig, 'layer' | 'documents'>): readonly Setting[] =>
  settingsOf(layer, documents).map((setting) => ({ ...setting, value: shown(setting) }));

export function configSchema(): number {
  process.stdout.write(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
  return 0;
}

/** Never shows values of variables and headers; hides other values that look like secrets. */
function shown({ path, value }: Setting): unknown {
  const holder = path.findLast((part) => part === 'env' || part === 'headers');
  if (holder !== undefined && path.at(-1) !== holder) return typeof value === 'string' ? hideValue(value) : value;
  return hideAll(value, path.at(-1) === 'args');
}

function hideAll(value: unknown, isArgs: boolean): unknown {
  if (typeof value === 'string') return hideByForm(value);
  if (Array.isArray(value)) {
    const isWords = value.every((item) => typeof item === 'string');
    return isWords ? (isArgs ? hideArgs(value) : value.map(hideByForm)) : value.map((item) => hideAll(item, false));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (key !== 'env' && key !== 'headers') return [key, hideAll(item, key === 'args')];
      return [
        key,
        Object.fromEntries(Object.entries(item ?? {}).map(([name, inner]) => [name, typeof inner === 'string' ? hideValue(inner) : inner])),
      ];
    }),
  );
}
