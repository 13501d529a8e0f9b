// `switchboard policy remembered`: lists the "always" answers in effect, and revokes them.

import { escapeControls } from '../../control-characters.ts';
import { createRemembered } from '../../store/remembered-answers.ts';
import { CommandFailure } from '../failure.ts';
import { printTable } from '../output.ts';
import { surroundings } from '../resolve-config.ts';
import { inEnvelope, print, printData } from './output.ts';
export type RememberedFlags = { readonly revoke?: string; readonly all?: true; readonly json?: true };

export function policyRemembered(flags: RememberedFlags): Promise<number> {
  return inEnvelope('REMEMBERED', async () => {
    if (flags.revoke !== undefined && flags.all) throw new CommandFailure(2, '--revoke and --all exclude each other', 'use one of them');
    const { stateDir } = surroundings({});
    const unread: unknown[] = [];
    const store = createRemembered(stateDir, { redact: (text) => text, onProblem: (error) => unread.push(error) });
    const answers = store.list();
    const [problem] = unread;
    if (problem !== undefined) throw failed(store.file, 'read', problem);
    if (flags.revoke === undefined && !flags.all) {
      list(answers, flags);
      return 0;
    }
    const ids = flags.revoke === undefined ? answers.map(({ id }) => id) : [flags.revoke];
    if (flags.revoke !== undefined && !answers.some(({ id }) => id === flags.revoke))
      throw new CommandFailure(4, `no remembered answer "${flags.revoke}"`, 'to list the answers, run: switchboard policy remembered');
    try {
      for (const id of ids) store.revoke(id);
    } catch (error) {
      throw failed(store.file, 'write', error);
    }
    if (flags.json) printData({ revoked: ids });
    else print(ids.length === 1 ? `revoked: ${ids[0]}` : `revoked: ${ids.length} answers`);
    return 0;
  });
}

function list(answers: ReturnType<ReturnType<typeof createRemembered>['list']>, { json }: RememberedFlags): void {
  if (json) {
    // The key and the process are internal.
    printData({ answers: answers.map(({ key, keeper, ...shown }) => shown) });
    return;
  }
  if (answers.length === 0) return print('no remembered answers');
  const rows = answers.map(({ id, verdict, scope, agent, cwd, what, at, expiresAt }) =>
    [
      id,
      verdict,
      scope,
      agent,
      cwd,
      at.slice(0, 16),
      expiresAt?.slice(0, 16) ?? (scope === 'session' ? 'session end' : 'revoked'),
      what,
    ].map(escapeControls),
  );
  printTable(['ID', 'VERDICT', 'SCOPE', 'AGENT', 'DIRECTORY', 'SINCE', 'UNTIL', 'REQUEST'], rows);
}

function failed(file: string, done: 'read' | 'write', error: unknown): CommandFailure {
  const { code, message } = error as NodeJS.ErrnoException;
  return new CommandFailure(1, `cannot ${done} ${file} (${code ?? message})`);
}
