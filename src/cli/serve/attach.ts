// `switchboard acp --console`: the console attached to an editor. A console failure never affects the editor.

import { rmSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EnforcedPolicy } from '../../app/policy.ts';
import type { ExtraObserver } from '../../app/records.ts';
import type { ClientStreams, Served } from '../../app/serve-client.ts';
import type { Config } from '../../config/config.ts';
import { createFrames, type Frames } from '../../console/state/frames.ts';
import { makeDirectory } from '../../private-files.ts';
import type { Secrets } from '../../redaction/redact.ts';
import { createSessionStore } from '../../store/sessions/session-store.ts';
import { readTranscript, transcriptsDir } from '../../store/transcripts/transcript-files.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { inProcessPair } from '../../transports/in-process.ts';
import { joinObservers } from '../../wire/observer.ts';
import { notice } from '../output.ts';
import type { ConfigFlags } from '../resolve-config.ts';
import { attachedClient } from './attached-client.ts';
import { writeLinkFile } from './link-file.ts';
import { openHere, portOf } from './open-console.ts';
import { watchClient } from './watch-client.ts';

export type Attachment = {
  readonly extraObserver: (secrets: Secrets) => ExtraObserver;
  /** Resolves when it listens, or has reported why it cannot. Returns a function that stops it. */
  open(client: Served, parts: ServedParts): Promise<() => Promise<void>>;
};

type ServedParts = {
  readonly config: Config;
  readonly files: readonly string[];
  readonly flags: ConfigFlags;
  readonly secrets: Secrets;
  readonly policy: EnforcedPolicy | undefined;
  readonly telemetry: Telemetry | undefined;
  /** A second client of the same switchboard, for sessions opened in the console. */
  readonly connect: (client: ClientStreams) => Served;
};

export function attachConsole(given: string | true, stateDir: string): Attachment {
  const port = portOf(given === true ? undefined : given);
  const watch = watchClient();
  let frames: Frames | undefined;
  let isFirst = true;
  return {
    extraObserver(secrets) {
      const made = createFrames(secrets, path.join(stateDir, 'frames'));
      frames = made;
      return (connection, side) => {
        const observer = made.observer(connection, side);
        // The console's own connections are not watched.
        if (side !== 'editor' || !isFirst) return observer;
        isFirst = false;
        return joinObservers([observer, watch.observer], (error) => notice(`the console: ${String((error as Error).message)}`)) ?? observer;
      };
    },
    async open({ connection, transcripts }, { config, files, flags, secrets, policy, telemetry, connect }) {
      const file = path.join(stateDir, `console-${process.pid}.html`);
      const log = createSessionStore(stateDir, () => {});
      const attached = attachedClient({
        connection,
        watch,
        redact: secrets.redact,
        transcript(sessionId) {
          transcripts?.stats(); // flush first
          return readTranscript(transcriptsDir(stateDir), sessionId);
        },
        agentOf: (sessionId) => log.records().get(sessionId)?.agent ?? config.defaultAgent,
      });
      try {
        const opened = await openHere({
          ...{
            connection,
            settle: () => void transcripts?.stats(),
            config,
            files,
            flags,
            stateDir,
            secrets,
            policy,
            telemetry,
            port,
            attached,
            frames: frames as Frames,
          },
          connect() {
            const { client, proxy } = inProcessPair();
            const queue = connect(proxy).connection;
            return { ...client, evaluatedRequest: queue.evaluatedRequest, byUser: queue.fileActionByUser, queue };
          },
          entered: () => writeLinkFile(file, opened.link()),
        });
        makeDirectory(stateDir);
        writeLinkFile(file, opened.link());
        notice(
          `the console is on 127.0.0.1:${opened.port}; open this file, which only you can read, in a browser: ${pathToFileURL(file).href}`,
        );
        return async () => {
          rmSync(file, { force: true });
          await opened.stop();
        };
      } catch (error) {
        notice(`the console could not start: ${(error as Error).message}`);
        return async () => {};
      }
    },
  };
}
