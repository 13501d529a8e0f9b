// Checks the editors: our entry exists, and its command works.
import { existsSync } from 'node:fs';
import { ConfigError } from '../../config/problems.ts';
import { type Editor, type Listed, openEditorFile, type Places } from '../../setup/editors.ts';
import { findProgram } from '../../setup/find-program.ts';
import { editorsInUse } from '../../setup/survey.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

export async function checkEditors(places: Places): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const editor of editorsInUse(places)) findings.push(...(await checkEditor(editor, places)));
  if (findings.length === 0)
    findings.push(
      warning('editor', 'found no supported editor', 'an editor starts switchboard', 'switchboard connect --print lua|elisp|toml'),
    );
  return findings;
}

async function checkEditor(editor: Editor, places: Places): Promise<Finding[]> {
  const file = editor.file(places);
  try {
    const { agents } = await openEditorFile(editor, file);
    const ours = agents.filter(({ isUs }) => isUs);
    if (ours.length === 0)
      return [
        warning(
          'editor.entry',
          `switchboard is not connected to ${editor.title}`,
          `${file} has no switchboard entry`,
          `switchboard connect ${editor.id}`,
        ),
      ];
    return ours.map((entry) => checkEntry(editor, file, entry, places));
  } catch (error) {
    const why = error instanceof ConfigError ? error.message : (error as Error).message;
    return [
      problem(
        'editor.file',
        `cannot parse the settings of ${editor.title}`,
        why,
        `fix ${file}, then run: switchboard connect ${editor.id}`,
      ),
    ];
  }
}

function checkEntry(editor: Editor, file: string, { name, start }: Listed, places: Places): Finding {
  const again = `switchboard connect ${editor.id}`;
  const script = start?.args.find((arg) => arg.endsWith('switchboard.js'));
  const program = start && findProgram(start.command, places);
  if (start && program === undefined)
    return problem(
      'editor.entry',
      `"${name}" in ${editor.title} starts ${start.command}, which does not exist`,
      `${editor.title} cannot start switchboard`,
      again,
    );
  if (script !== undefined && !existsSync(script))
    return problem(
      'editor.entry',
      `"${name}" in ${editor.title} starts ${script}, which does not exist`,
      `${editor.title} cannot start switchboard`,
      again,
    );
  if (start && program !== start.command)
    return warning(
      'editor.entry',
      `"${name}" in ${editor.title} starts "${start.command}" through PATH`,
      'a desktop program may lack the PATH of your shell',
      again,
    );
  return ok('editor.entry', `${editor.title} starts switchboard as "${name}" (${file})`);
}
