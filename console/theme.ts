// Light or dark, as the system has it.
import { signal } from '@preact/signals';

const system = matchMedia('(prefers-color-scheme: dark)');

/** What is on screen. */
export const isDark = signal(system.matches);
system.addEventListener('change', () => {
  isDark.value = system.matches;
});
