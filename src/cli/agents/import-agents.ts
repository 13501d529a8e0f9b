// `switchboard import`: copies the agents of installed editors to the user's configuration.

import { existsSync } from 'node:fs';
import { bundledCatalogue } from '../../app/package-files.ts';
import { withProperty } from '../../setup/edit-jsonc.ts';
import { EDITORS, type EditorFile, openEditorFile, placesHere } from '../../setup/editors.ts';
import { type Taken, type TakenOver, takeOver, withOneEnabled } from '../../setup/import-agents.ts';
import { provenance } from '../../setup/new-config.ts';
import { CommandFailure } from '../failure.ts';
import { notice } from '../output.ts';
import { printData } from '../policy/output.ts';
import type { ConfigFlags } from '../resolve-config.ts';
import { clientNamed, openEditor } from '../setup/connect.ts';
import { type ChangeFlags, confirmChanges, makeChange, printChange, say } from '../setup/show-change.ts';
import { openUserConfig, refuseWorse } from '../setup/user-config.ts';
import { hereWithInstalled } from './catalogue-entry.ts';

export type ImportFlags = ConfigFlags & ChangeFlags & { readonly from?: string; readonly file?: string };

export async function importCommand(flags: ImportFlags): Promise<number> {
  const { files, warnings: unreadable } =
    flags.from === undefined ? await editorsHere() : { files: await named(flags.from, flags), warnings: [] };
  const config = await openUserConfig(flags);
  const { taken, left } = takeOver(files, config.agents, bundledCatalogue(), hereWithInstalled());
  const found = { taken: withOneEnabled(taken, config.agents), left };
  const edited = found.taken.length === 0 ? config.text : withTaken(config.base, found.taken);
  if (edited !== config.text) refuseWorse(config, edited);
  const planned = { file: config, text: edited };
  const isShown = await confirmChanges([planned], flags);
  const change = await makeChange(planned, flags);
  const warnings = [...unreadable, ...warningsOf(found)];
  if (flags.json) {
    const imported = found.taken.map(({ name, source, missing, entry }) => ({ name, source, enabled: entry.enabled !== false, missing }));
    printData({ imported, skipped: found.left, ...change }, warnings);
    return 0;
  }
  if (files.length === 0) say('Found no editor with configured agents.');
  if (change.changed) printChange(change, isShown);
  for (const { name, source } of found.taken) say(`imported: ${name}, from ${source}`);
  for (const { name, source, why } of found.left) say(`skipped: ${name} from ${source}: ${why}`);
  if (files.length > 0 && found.taken.length + found.left.length === 0)
    say(`Nothing to import: no agents in ${files.map(({ editor }) => editor.title).join(' or ')}.`);
  for (const text of warnings) notice(text);
  return 0;
}

/** The editors' files on this machine. Reports an unreadable file and continues with the others. */
export async function editorsHere(): Promise<{ readonly files: readonly EditorFile[]; readonly warnings: readonly string[] }> {
  const files: EditorFile[] = [];
  const warnings: string[] = [];
  for (const editor of EDITORS) {
    const file = editor.file(placesHere());
    if (!existsSync(file)) continue;
    try {
      files.push(await openEditorFile(editor, file));
    } catch (error) {
      warnings.push(`skipping ${editor.title}: ${(error as Error).message}`);
    }
  }
  return { files, warnings };
}

export function withTaken(text: string, taken: readonly Taken[]): string {
  return taken.reduce((before, { name, entry, source, missing }) => {
    const then = entry.enabled === false ? ', then remove "enabled"' : '';
    const hint = missing.length > 0 ? `; set ${missing.join(' and ')} in your environment${then}` : '';
    return withProperty(before, ['agent_servers', name], entry, provenance(source) + hint);
  }, text);
}

export function warningsOf({ taken }: TakenOver): string[] {
  return taken.flatMap(({ name, missing, warnings, entry }) => [
    ...(missing.length > 0
      ? [
          `${name}: secrets are not copied. Set ${missing.join(' and ')} in your environment${entry.enabled === false ? ', then enable the agent' : ''}`,
        ]
      : []),
    ...warnings.map((text) => `${name}: ${text}`),
  ]);
}

async function named(from: string, flags: ImportFlags): Promise<EditorFile[]> {
  const ids = from.split(',').map((id) => id.trim());
  if (flags.file !== undefined && ids.length > 1)
    throw new CommandFailure(2, '--file requires a single editor', 'name one editor in --from');
  const files: EditorFile[] = [];
  for (const editor of ids.map(clientNamed)) {
    const file = await openEditor(editor, flags);
    if (file.mode === undefined)
      throw new CommandFailure(4, `${editor.title} has no agents: ${file.file} does not exist`, 'name its settings file: --file FILE');
    files.push(file);
  }
  return files;
}
