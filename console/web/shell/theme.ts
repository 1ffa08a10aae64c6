// Dark or light: as the system has it, until a person chooses.
import { createSignal } from 'solid-js';

type Theme = 'dark' | 'light';
const kept = 'gatehouse.theme';

function first(): Theme {
  const chosen = localStorage.getItem(kept);
  if (chosen === 'dark' || chosen === 'light') return chosen;
  return matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
}

const [theme, setTheme] = createSignal<Theme>('dark');
export { theme };

function show(wanted: Theme): void {
  setTheme(wanted);
  document.documentElement.dataset['theme'] = wanted;
}

export const startTheme = (): void => show(first());

export function toggleTheme(): void {
  const next = theme() === 'dark' ? 'light' : 'dark';
  localStorage.setItem(kept, next);
  show(next);
}
