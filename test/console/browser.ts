// A real browser, shared by the tests of a file.
import { type Browser, chromium } from 'playwright-core';
import { findChromium } from '../groups.ts';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const startBrowser = (): Promise<Browser> => chromium.launch({ executablePath: findChromium() as string, args: FLAGS });
