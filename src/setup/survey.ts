// Finds the installed agents and the editors in use on this machine.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Catalogue, CatalogueAgent } from '../agents/catalogue.ts';
import { platformOf } from '../platform/platform.ts';
import { EDITORS, type Editor, type Places } from './editors.ts';
import { type Here, resolveStart } from './start-command.ts';

/** The installed agents of the catalogue. */
export function installedAgents(catalogue: Catalogue, here: Here): readonly CatalogueAgent[] {
  return catalogue.filter((agent) => resolveStart(agent, here).how === 'direct');
}

/** The editors with settings on this machine. */
export function editorsInUse(places: Places): readonly Editor[] {
  return EDITORS.filter((editor) => signsOf(editor, places).some((sign) => existsSync(sign)));
}

/** Folders that an editor creates before it has agents. VS Code creates one on every machine, even without the extension. */
function signsOf(editor: Editor, places: Places): string[] {
  const { home, platform, env } = places;
  if (editor.id === 'vscode') return hasAcpClient(places) ? [path.dirname(editor.file(places))] : [];
  if (editor.id !== 'jetbrains') return [path.dirname(editor.file(places))];
  return [path.join(home, '.jetbrains'), path.join(platformOf(platform).configHome(env, home), 'JetBrains')];
}

function hasAcpClient({ home }: Places): boolean {
  try {
    return readdirSync(path.join(home, '.vscode', 'extensions')).some((name) => name.includes('acp-client'));
  } catch {
    return false;
  }
}
