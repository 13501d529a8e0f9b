// Shows the configuration in force, read-only, and runs the doctor.
import { z } from 'zod';
import type { Redactor } from '../../redaction/redact.ts';
import type { Finding, SettingActions, Settings } from '../protocol/settings.ts';
import type { ActionsOf, Handlers } from '../server/screens.ts';
import { cleanValue } from '../state/clean-text.ts';

export type SettingDeps = {
  readonly settings: () => Promise<Settings>;
  readonly doctor: (isStarting: boolean) => Promise<readonly Finding[]>;
  readonly redact: Redactor;
};

export function settingsHandlers({ settings, doctor, redact }: SettingDeps): Handlers {
  /** One at a time: the check starts every agent. */
  let running: Promise<readonly Finding[]> | undefined;
  const actions: ActionsOf<SettingActions> = {
    settings: { params: z.strictObject({}), perform: async () => cleanValue(await settings(), redact) as Settings },
    doctor: {
      params: z.strictObject({ isStarting: z.boolean() }),
      async perform({ isStarting }) {
        running ??= doctor(isStarting).finally(() => {
          running = undefined;
        });
        return { findings: cleanValue(await running, redact) as readonly Finding[] };
      },
    },
  };
  return { actions };
}
