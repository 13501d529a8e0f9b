// What is on disk of it all, read with our own commands when everything has ended. The secret of the first step is in none of it.
import { expect, type Stage } from './stage.ts';

const BEFORE_THE_CRASH = 1;
const AFTER_IT = 4;

export async function records(stage: Stage, secret: string): Promise<void> {
  const { page } = stage;
  page.heading('The log of it all, without secrets');
  const [log, transcript, audit] = await Promise.all([
    stage.switchboard('logs', 'agent:builder'),
    stage.switchboard('sessions', 'show', stage.session('builder')),
    stage.switchboard('audit', 'verify'),
  ]);
  expect(![log, transcript, audit].some((text) => text.includes(secret)), 'the secret should be in none of it');
  const frames = log.split('\n');
  const crash = frames.findIndex((line) => line.includes('down: '));
  expect(crash >= BEFORE_THE_CRASH, 'the log should tell of the crash');
  for (const line of frames.slice(crash - BEFORE_THE_CRASH, crash + AFTER_IT)) page.line('logs', shortened(line));

  const [, prompted = ''] = /^\[Prompt\]\n(.*)/m.exec(transcript) ?? [];
  expect(prompted.includes('[redacted:'), 'the prompt should be there, redacted');
  page.line('sessions', `you said: ${prompted}`);
  const [, decisions] = /^intact: .*\((\d+ decisions)\)/.exec(audit) ?? [];
  expect(decisions !== undefined, 'the log of decisions should be intact');
  page.line('audit', `intact: ${decisions}, chained by their hashes`);
}

/** Without the date, the session's id, the size and the columns. */
const shortened = (line: string) =>
  line
    .slice(line.indexOf(' ') + 1)
    .replace(/(?: {2}session \S+)?(?: {2}\d+ B)?$/, '')
    .replaceAll(/ {2,}/g, '  ');
