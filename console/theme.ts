// Light or dark: the system's setting or the user's choice, stored in this browser.
import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'switchboard-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

const isTheme = (value: string | null): value is Theme => value === 'light' || value === 'dark';
const kept = localStorage.getItem(KEY);
export const theme = signal<Theme>(isTheme(kept) ? kept : 'system');
/** The theme in effect. */
export const isDark = signal(false);

function apply(): void {
  document.documentElement.style.colorScheme = theme.value === 'system' ? '' : theme.value;
  isDark.value = theme.value === 'system' ? system.matches : theme.value === 'dark';
}
system.addEventListener('change', apply);
apply();

export function chooseTheme(wanted: Theme): void {
  theme.value = wanted;
  if (wanted === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, wanted);
  apply();
}
