// The answers behind `always-answers.ts`, in the file that `switchboard policy remembered` lists and revokes from. They cover exactly the same
// request, as under a policy.
import os from 'node:os';
import { fields } from '../../json-object.ts';
import { here } from '../../platform/platform.ts';
import type { Action } from '../../policy/actions/action.ts';
import { permissionAction } from '../../policy/actions/permission.ts';
import { isConsent, optionToAllow, optionToDeny, readOptions } from '../../policy/actions/permission-options.ts';
import { summaryOf } from '../../policy/actions/summary.ts';
import { keyOf } from '../../policy/rules/remembered.ts';
import { createRemembered, hashKey } from '../../store/remembered-answers.ts';
import { canonicalPath } from '../../workspace/canonical.ts';
import type { Session } from '../sessions/session.ts';

export type AlwaysStoreOptions = {
  readonly stateDir: string;
  readonly redact: (text: string) => string;
  readonly onProblem: (error: unknown) => void;
};

type Recalled = {
  readonly verdict: 'allow' | 'deny';
  readonly optionId: string;
  readonly id: string;
  readonly what: string;
  /** It is used for the first time. */
  readonly isFirst: boolean;
};

export type AlwaysAnswerStore = {
  recall(session: Session, params: unknown): Recalled | undefined;
  /** Keeps the answer if it is an "always" about a request that is understood. */
  keep(session: Session, params: unknown, result: unknown): void;
  /** A host tool that the user has allowed for the session. */
  allowsTool(session: Session, name: string): boolean;
  /** False if it cannot be stored. */
  keepTool(session: Session, name: string): boolean;
  ended(session: Session): void;
};

/** In place of the hash of a policy: answers that were given without one do not apply under one. */
const NO_POLICY = 'none';

export function createAlwaysAnswerStore({ stateDir, redact, onProblem }: AlwaysStoreOptions): AlwaysAnswerStore {
  const remembered = createRemembered(stateDir, { redact, onProblem });
  const used = new Set<string>();

  function find({ publicId, cwd }: Session, key: string | undefined) {
    if (key === undefined || cwd === undefined) return undefined;
    const hash = hashKey(key);
    const answers = remembered.answersFor({ cwd: canonicalPath(cwd), session: publicId, policy: NO_POLICY });
    const found = answers.filter((answer) => answer.key === hash);
    // A rejection wins over an earlier or later consent.
    return found.find(({ verdict }) => verdict === 'deny') ?? found[0];
  }
  function remember({ publicId, agent, cwd }: Session, verdict: 'allow' | 'deny', key: string | undefined, what: string): boolean {
    if (cwd === undefined) return false;
    const about = { agent: agent.name, cwd: canonicalPath(cwd), session: publicId, policy: NO_POLICY };
    return remembered.remember({ ...about, verdict, scope: 'session', key, what }).isKept;
  }
  return {
    recall(session, params) {
      const found = find(session, keyOfRequest(session, params));
      if (!found) return undefined;
      const options = readOptions(fields(params).options);
      const option = found.verdict === 'allow' ? optionToAllow(options) : optionToDeny(options);
      if (!option) return undefined;
      const isFirst = !used.has(found.id);
      used.add(found.id);
      return { verdict: found.verdict, optionId: option.optionId, id: found.id, what: found.what, isFirst };
    },
    keep(session, params, result) {
      const { outcome, optionId } = fields(fields(result).outcome);
      const chosen = readOptions(fields(params).options).find((option) => option.optionId === optionId);
      if (outcome !== 'selected' || !chosen?.kind.endsWith('_always') || session.isClosed) return;
      const isAllowed = chosen.kind === 'allow_always';
      if (isAllowed ? !isConsent(chosen) : chosen.kind !== 'reject_always') return;
      const action = actionOf(session, params);
      if (action) remember(session, isAllowed ? 'allow' : 'deny', keyOf(action), summaryOf(action));
    },
    allowsTool: (session, name) => find(session, keyOfTool(session, name)) !== undefined,
    keepTool: (session, name) => remember(session, 'allow', keyOfTool(session, name), `host tool ${name}`),
    ended(session) {
      remembered.endSession(session.publicId);
    },
  };
}

const keyOfTool = ({ agent }: Session, name: string): string => JSON.stringify(['tool', agent.name, name]);

function keyOfRequest(session: Session, params: unknown): string | undefined {
  const action = actionOf(session, params);
  return action && keyOf(action);
}

function actionOf({ agent, cwd, publicId }: Session, params: unknown): Action | undefined {
  if (cwd === undefined) return undefined;
  const place = { agent: agent.name, session: publicId, cwd: canonicalPath(cwd), home: os.homedir(), interactive: true };
  return permissionAction({ ...place, canonical: canonicalPath, shell: here.shell }, params);
}
